import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../playground/kubernetes/cluster.ts';
import { missingPackages } from './missing-packages.ts';
import { scratchDir } from './scratch-dir.ts';

/** Why it cannot be run here; null: it can. CI must have it. */
export const missingKubectl = (): string | null =>
  missingPackages('kubectl', [['kubectl', 'kubernetes-client']]);

export interface KubectlResult {
  readonly out: string;
  readonly error: string;
  readonly code: number;
}

export interface Kubectl {
  /** Runs it; throws with what it says when it fails. Its standard output. */
  (...args: readonly string[]): Promise<string>;
  /** Runs it, also where it may fail. */
  tries(...args: readonly string[]): Promise<KubectlResult>;
  /** Runs it until `stop`, as `logs -f` runs. */
  follows(...args: readonly string[]): { readonly lines: () => string; stop(): Promise<void> };
}

/** The real client against a cluster, as one of its users. */
export function kubectlFor(cluster: Cluster, user: 'admin' | 'read' | 'act' = 'admin'): Kubectl {
  const dir = mkdtempSync(join(scratchDir(), 'kubectl-'));
  const config = join(dir, 'config');
  writeFileSync(config, cluster.kubeconfig(user), { mode: 0o600 });
  const base = ['--kubeconfig', config, '--cache-dir', join(dir, 'cache')];
  // Its cache is not shared between tests, and no configuration of this machine's user is read.
  const options = { env: { PATH: process.env['PATH'], HOME: dir }, encoding: 'utf8' as const };
  const tries = (...args: readonly string[]) =>
    new Promise<KubectlResult>((resolve) => {
      execFile('kubectl', [...base, ...args], options, (failure, out, error) =>
        resolve({ out, error, code: failure === null ? 0 : Number(failure.code ?? 1) }),
      );
    });
  const run = async (...args: readonly string[]) => {
    const { out, error, code } = await tries(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${error}${out}`);
    return out;
  };
  return Object.assign(run, {
    tries,
    follows(...args: readonly string[]) {
      const child = spawn('kubectl', [...base, ...args], { env: options.env });
      let lines = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        lines += text;
      });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      return {
        lines: () => lines,
        async stop() {
          child.kill('SIGTERM');
          await ended;
        },
      };
    },
  });
}
