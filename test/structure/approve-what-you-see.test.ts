import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { allTools } from '../../src/targets/all-tools.ts';

/**
 * For every tool that changes something, the test that shows: what moved after its card was drawn, or became riskier, has no
 * effect. A tool without one fails here.
 */
const postgres = 'test/integration/targets/postgres/active-tools.test.ts';
const host = 'test/integration/targets/host/acting.test.ts';
const kubernetes = 'test/contract/kubernetes/changes.test.ts';
const containers = 'test/unit/targets/containers/approved-as-seen.test.ts';
const cluster = (tool: string): readonly string[] => [
  kubernetes,
  'does nothing when what was approved has moved',
  `tool: '${tool}'`,
];
const container = (tool: string): readonly string[] => [
  containers,
  'does nothing to a container that is not as its card said: %s',
  `'container_${tool}'`,
];

const alertmanager = 'test/integration/targets/alertmanager/alertmanager.test.ts';

const SHOWN: Readonly<Record<string, readonly string[]>> = {
  postgres_terminate_backend: [
    postgres,
    'a session that writes after its card was drawn is not ended under it',
  ],
  postgres_cancel_query: [
    postgres,
    'a statement is not cancelled under a card that said its transaction had written nothing',
  ],
  postgres_vacuum_table: [postgres, 'a table vacuumed by hand since is not vacuumed again'],
  postgres_set_setting: [
    postgres,
    'a setting that somebody overrides since, or that comes from elsewhere, is not changed',
  ],
  postgres_autovacuum_on: [
    'test/integration/targets/postgres/autovacuum-on.test.ts',
    'has no effect on a table that was %s since',
  ],
  apply_patch: [host, 'is void when the file has become executable, which is another risk'],
  undo_patch: [host, 'is not taken back under a card that knew it as no program'],
  restart_service: [host, 'what was approved for a service that was down ends none that runs by now'],
  kubernetes_rollout_restart: cluster('rollout_restart'),
  kubernetes_rollout_undo: cluster('rollout_undo'),
  kubernetes_scale: cluster('scale'),
  kubernetes_delete_pod: cluster('delete_pod'),
  kubernetes_cordon: cluster('cordon'),
  kubernetes_uncordon: cluster('uncordon'),
  container_start: container('start'),
  container_stop: container('stop'),
  container_restart: container('restart'),
  container_pause: container('pause'),
  container_unpause: container('unpause'),
  container_kill: container('kill'),
  container_update: container('update'),
  alertmanager_silence: [
    alertmanager,
    'its card says which others it hits, and does not hold once another joins them',
  ],
  alertmanager_expire_silence: [
    alertmanager,
    'a silence that was prolonged after its card was drawn is not ended',
  ],
  container_prune: [containers, 'removes nothing when there is another dangling image than its card counted'],
};

const active = allTools.filter(({ kind }) => kind === 'active').map(({ name }) => name);

it('every tool that changes something has a test of it, and there is none for a tool that is gone [F4]', () => {
  expect(Object.keys(SHOWN).toSorted()).toEqual(active.toSorted());
});

test.each(Object.entries(SHOWN))('%s: the test is there [F4]', (_, [file = '', ...texts]) => {
  const source = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
  for (const text of texts) expect(source).toContain(text);
});
