import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createScriptedClaude, type ScriptedClaude } from '../../../../playground/claude/scripted-claude.ts';
import { clusterFaults } from '../../../../playground/faults/kubernetes/cluster-faults.ts';
import { applyShop, namespaces } from '../../../../playground/faults/kubernetes/shop-cluster.ts';
import { claudeOnFaults, type FaultScript } from '../../../support/claude-on-faults.ts';
import { type KubernetesScene, startKubernetesScene } from '../../../support/kubernetes-scene.ts';
import { waitFor } from '../../../support/wait-for.ts';

interface Case {
  readonly id: string;
  /** What is said of it by a runbook, and what is asked for; null: nothing that Sentry may do helps. */
  readonly cause: readonly string[];
  readonly command: string | null;
  readonly claude: FaultScript;
}

const whyUnhealthy = (name: string, namespace = 'shop') => ({
  tool: 'kubernetes_why_unhealthy',
  input: { namespace, name },
});
const rollBack = (name: string) => ({
  tool: 'kubernetes_rollout_undo',
  input: { namespace: 'shop', name, to_revision: 1 },
});

const cases: readonly Case[] = [
  {
    id: 'kubernetes_bad_rollout',
    cause: [
      'Revision 2 of checkout does not become healthy',
      'shop/checkout:2.4.0 → shop/checkout:2.5.0-crash',
    ],
    command: 'kubectl rollout undo --namespace shop deployment/checkout --to-revision=1',
    claude: {
      object: 'checkout',
      reads: [whyUnhealthy('checkout')],
      cause: 'Revision 2 of checkout, whose image is shop/checkout:2.5.0-crash, dies at its start.',
      claims: [
        {
          claim: 'Its image was changed.',
          read: 0,
          lines: ['shop/checkout:2.4.0 → shop/checkout:2.5.0-crash'],
        },
      ],
      act: rollBack('checkout'),
    },
  },
  {
    id: 'kubernetes_crash_loop',
    cause: ['Revision 2 of orders does not become healthy', 'PAYMENTS_URL'],
    command: 'kubectl rollout undo --namespace shop deployment/orders --to-revision=1',
    claude: {
      object: 'orders',
      reads: [whyUnhealthy('orders')],
      cause: 'Revision 2 of orders dies at its start: PAYMENTS_URL is empty.',
      claims: [{ claim: 'PAYMENTS_URL was changed.', read: 0, lines: ['PAYMENTS_URL'] }],
      act: rollBack('orders'),
    },
  },
  {
    id: 'kubernetes_quota',
    cause: ['Quota search lets no more pods of search be made'],
    command: null,
    claude: {
      object: 'search',
      reads: [{ tool: 'kubernetes_limits', input: { namespace: 'shop-search' } }],
      cause: 'Quota search is used up: it lets no more pods of search be made.',
      claims: [{ claim: 'Quota search is used up.', read: 0, lines: ['quota search: pods 3 of 3'] }],
      act: null,
    },
  },
  {
    id: 'kubernetes_missing_config',
    cause: ['Revision 2 of payments does not become healthy', 'retry_budget'],
    command: 'kubectl rollout undo --namespace shop deployment/payments --to-revision=1',
    claude: {
      object: 'payments',
      reads: [whyUnhealthy('payments')],
      cause: 'Revision 2 of payments cannot start: config map payments has no key retry_budget.',
      claims: [{ claim: 'The key retry_budget is not there.', read: 0, lines: ['retry_budget'] }],
      act: rollBack('payments'),
    },
  },
];

/** By the runbooks, and by Claude who knows none. */
describe.each(['runbooks', 'Claude'] as const)('by %s', (by) => {
  let scene: KubernetesScene;
  let claude: ScriptedClaude | undefined;
  beforeAll(async () => {
    if (by === 'Claude')
      claude = await createScriptedClaude({
        scenario: claudeOnFaults(
          'deployment',
          cases.map((each) => each.claude),
        ),
      });
    scene = await startKubernetesScene({}, namespaces, claude?.url);
    await applyShop(scene.cluster);
  });
  afterAll(async () => {
    await scene.stop();
    await claude?.close();
  });

  test('each fault of the playground is one of these', () => {
    expect(clusterFaults(scene.cluster).map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
  });

  // All at once: four incidents of one cluster, each with its own cause.
  test.concurrent.each(cases)(
    '$id: alert, cause, card or advice, fixed',
    async ({ id, cause, command, claude: script }) => {
      const fault = clusterFaults(scene.cluster).find((each) => each.id === id);
      if (!fault) throw new Error(`no fault ${id}`);
      await fault.cause();
      expect(await fault.read()).toMatchObject({ holds: true });
      const { alertname, summary, labels } = fault.rule;
      const incident = await scene.open({ name: alertname, title: summary, labels });
      const asked = await scene.until(incident, ({ incident: { state } }) =>
        ['awaiting_approval', 'reported'].includes(state),
      );
      const found = JSON.stringify(asked.events.slice(-8));
      for (const words of by === 'Claude' ? [script.cause] : cause)
        expect(asked.incident.cause, found).toContain(words);
      expect(
        asked.actions.map((action) => action.command),
        found,
      ).toEqual(command === null ? [] : [command]);
      expect(asked.events.filter(({ type }) => type === 'investigator.fallback')).toEqual([]);
      if (command === null) await fault.undo();
      else {
        const done = await scene.approve(incident);
        expect(done.incident).toMatchObject({
          state: 'resolved',
          verdict: 'fixed',
          resolvedBy: 'confirmed',
        });
      }
      await waitFor(`${id} to be over`, async () => !(await fault.read()).holds);
    },
  );
});
