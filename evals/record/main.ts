import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startShop } from '../../playground/faults/postgres/shop.ts';
import { packageRoot } from '../../src/config/package-root.ts';
import { messageOf } from '../../src/core/errors.ts';
import { createLog } from '../../src/infra/log/log.ts';
import { loadRunbooks } from '../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import type { Scenario } from '../replay/scenario.ts';
import { answerOf } from '../score/answer.ts';
import { scoreAnswer } from '../score/score.ts';
import { connectionCases } from './cases/connections.ts';
import { containerCases } from './cases/containers.ts';
import { hostCases } from './cases/hosts.ts';
import { kubernetesCases } from './cases/kubernetes.ts';
import { lockCases } from './cases/locks.ts';
import { shopCases } from './cases/shop.ts';
import { storageCases } from './cases/storage.ts';
import { uncoveredCases } from './cases/uncovered.ts';
import { vacuumCases } from './cases/vacuum.ts';
import type { FaultCase, Lab } from './fault-case.ts';
import { furnish } from './furnish.ts';
import { recordCase } from './record-case.ts';
import { startScratchServer } from './scratch-server.ts';

// Records incidents again from real faults:
//   npx tsx evals/record/main.ts [--only <part of an id>]
//   npx tsx evals/record/main.ts --kubernetes
//   npx tsx evals/record/main.ts --containers          (as root: each in an engine of its own)
// Those of hosts need root, in namespaces of their own, so that no process and no disk of this machine is seen:
//   unshare -mpf --mount-proc sh -c 'mount -t tmpfs -o size=64m tmpfs /srv && exec npx tsx evals/record/main.ts --hosts'
// What is already in the file and not recorded again stays.

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    hosts: { type: 'boolean', default: false },
    kubernetes: { type: 'boolean', default: false },
    containers: { type: 'boolean', default: false },
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
    : values.containers
      ? [containerCases, 'containers']
      : [postgresCases, 'postgres'];
/** Those that share no server with each other. */
const AT_ONCE = values.containers ? 3 : 1;
const file = join(packageRoot(), 'evals', 'incidents', `${name}.jsonl`);

/** Up to here `postgres_table_health` shows them all; the shop has six of its own, a server two. */
const MOST_TABLES = 14;

const folder = mkdtempSync(join(tmpdir(), 'sentry-record-'));
const log = createLog('error');
const stops: (() => Promise<void>)[] = [];
const labOf = createLab();
try {
  const { runbooks } = await loadRunbooks(join(packageRoot(), 'runbooks'), {
    tools: createRegistry(allTools),
  });
  const recorded: Scenario[] = [];
  const left = cases.filter(({ id }) => id.includes(values.only ?? '')).values();
  const record = async (): Promise<void> => {
    for (const fault of left) {
      try {
        const { scenario, diagnosis } = await recordCase(fault, labOf(fault.id), runbooks);
        recorded.push(scenario);
        const { outcome, score, notes } = scoreAnswer(scenario.expected, answerOf(scenario.id, diagnosis));
        process.stdout.write(
          `${fault.id}: ${outcome} ${score} (${diagnosis.verdict}: ${diagnosis.rootCause}) ${notes.join('; ')}\n`,
        );
        save(recorded);
      } catch (error) {
        // The others can still be recorded.
        process.exitCode = 1;
        process.stderr.write(`${fault.id}: not recorded: ${messageOf(error)}\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, record));
} finally {
  for (const stop of stops.reverse()) await stop();
  rmSync(folder, { recursive: true, force: true });
}

/** The lab of a case: servers are started once, and furnished anew for each. */
function createLab(): (id: string) => Lab {
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
  return (id) => ({
    async shop() {
      const shop = await once('shop', () => startShop(join(folder, 'shop'), log));
      await furnish(shop.admin, id, MOST_TABLES - 6);
      return shop;
    },
    async server(kind) {
      const server = await once(kind, () => startScratchServer(kind, join(folder, kind), log));
      await furnish(server.admin, id, MOST_TABLES - 2);
      return server;
    },
  });
}

/** In the order of the cases, one line each. */
function save(recorded: readonly Scenario[]): void {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const lines = new Map(
    before
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [(JSON.parse(line) as { id: string }).id, line]),
  );
  for (const scenario of recorded) lines.set(scenario.id, JSON.stringify(scenario));
  const ordered = cases.map(({ id }) => lines.get(id)).filter((line) => line !== undefined);
  writeFileSync(file, `${ordered.join('\n')}\n`);
}
