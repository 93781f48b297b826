import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startShop } from '../../playground/faults/postgres/shop.ts';
import { packageRoot } from '../../src/config/config.ts';
import { createLog } from '../../src/infra/log/log.ts';
import { loadRunbooks } from '../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import type { Scenario } from '../replay/scenario.ts';
import { answerOf } from '../score/answer.ts';
import { scoreAnswer } from '../score/score.ts';
import { connectionCases } from './cases/connections.ts';
import { hostCases } from './cases/hosts.ts';
import { kubernetesCases } from './cases/kubernetes.ts';
import { lockCases } from './cases/locks.ts';
import { shopCases } from './cases/shop.ts';
import { storageCases } from './cases/storage.ts';
import { uncoveredCases } from './cases/uncovered.ts';
import { vacuumCases } from './cases/vacuum.ts';
import type { FaultCase, Lab } from './fault-case.ts';
import { recordCase } from './record-case.ts';
import { startScratchServer } from './scratch-server.ts';

// Records incidents again from real faults:
//   npx tsx evals/record/main.ts [--only <part of an id>]
//   npx tsx evals/record/main.ts --kubernetes
// Those of hosts need root, in namespaces of their own, so that no process and no disk of this machine is seen:
//   unshare -mpf --mount-proc sh -c 'mount -t tmpfs -o size=64m tmpfs /srv && exec npx tsx evals/record/main.ts --hosts'
// What is already in the file and not recorded again stays.

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    hosts: { type: 'boolean', default: false },
    kubernetes: { type: 'boolean', default: false },
  },
});
const postgresCases = [
  ...shopCases,
  ...lockCases,
  ...connectionCases,
  ...storageCases,
  ...vacuumCases,
  ...uncoveredCases,
];
const [cases, name]: readonly [readonly FaultCase[], string] = values.hosts
  ? [hostCases, 'hosts']
  : values.kubernetes
    ? [kubernetesCases, 'kubernetes']
    : [postgresCases, 'postgres'];
const file = join(packageRoot(), 'evals', 'incidents', `${name}.jsonl`);

const folder = mkdtempSync(join(tmpdir(), 'sentry-record-'));
const log = createLog('error');
const stops: (() => Promise<void>)[] = [];
const lab = createLab();
try {
  const { runbooks } = await loadRunbooks(join(packageRoot(), 'runbooks'), {
    tools: createRegistry(allTools),
  });
  const recorded: Scenario[] = [];
  for (const fault of cases.filter(({ id }) => id.includes(values.only ?? ''))) {
    const { scenario, diagnosis } = await recordCase(fault, lab, runbooks);
    recorded.push(scenario);
    const { outcome, score, notes } = scoreAnswer(scenario.expected, answerOf(scenario.id, diagnosis));
    process.stdout.write(
      `${fault.id}: ${outcome} ${score} (${diagnosis.verdict}: ${diagnosis.rootCause}) ${notes.join('; ')}\n`,
    );
    await save(recorded);
  }
} finally {
  for (const stop of stops.reverse()) await stop();
  rmSync(folder, { recursive: true, force: true });
}

function createLab(): Lab {
  const started = new Map<string, Promise<never>>();
  const once = <T extends { stop(): Promise<void> }>(key: string, start: () => Promise<T>): Promise<T> => {
    const running =
      (started.get(key) as Promise<T> | undefined) ??
      start().then((part) => {
        stops.push(() => part.stop());
        return part;
      });
    started.set(key, running as Promise<never>);
    return running;
  };
  return {
    shop: () => once('shop', () => startShop(join(folder, 'shop'), log)),
    server: (kind) => once(kind, () => startScratchServer(kind, join(folder, kind), log)),
  };
}

/** In the order of the cases, one line each. */
async function save(recorded: readonly Scenario[]): Promise<void> {
  const before = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = new Map(
    before
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [(JSON.parse(line) as { id: string }).id, line]),
  );
  for (const scenario of recorded) lines.set(scenario.id, JSON.stringify(scenario));
  const ordered = cases.map(({ id }) => lines.get(id)).filter((line) => line !== undefined);
  await writeFile(file, `${ordered.join('\n')}\n`);
}
