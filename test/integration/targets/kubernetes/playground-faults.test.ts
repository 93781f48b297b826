import { afterAll, beforeAll, expect, test } from 'vitest';
import { clusterFaults } from '../../../../playground/faults/kubernetes/cluster-faults.ts';
import { applyShop, namespaces } from '../../../../playground/faults/kubernetes/shop-cluster.ts';
import { type KubernetesScene, startKubernetesScene } from '../../../support/kubernetes-scene.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** What is said of each, and what is asked for; null: nothing that Sentry may do helps. */
const cases = [
  {
    id: 'kubernetes_bad_rollout',
    cause: [
      'Revision 2 of checkout does not become healthy',
      'shop/checkout:2.4.0 → shop/checkout:2.5.0-crash',
    ],
    command: 'kubectl rollout undo --namespace shop deployment/checkout --to-revision=1',
  },
  {
    id: 'kubernetes_crash_loop',
    cause: ['Revision 2 of orders does not become healthy', 'PAYMENTS_URL'],
    command: 'kubectl rollout undo --namespace shop deployment/orders --to-revision=1',
  },
  {
    id: 'kubernetes_quota',
    cause: ['Quota search lets no more pods of search be made'],
    command: null,
  },
  {
    id: 'kubernetes_missing_config',
    cause: ['Revision 2 of payments does not become healthy', 'retry_budget'],
    command: 'kubectl rollout undo --namespace shop deployment/payments --to-revision=1',
  },
];

let scene: KubernetesScene;
beforeAll(async () => {
  scene = await startKubernetesScene({}, namespaces);
  await applyShop(scene.cluster);
});
afterAll(() => scene.stop());

test('each fault of the playground is one of these', () => {
  expect(clusterFaults(scene.cluster).map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
});

// All at once: four incidents of one cluster, each with its own cause.
test.concurrent.each(cases)('$id: alert, cause, card or advice, fixed', async ({ id, cause, command }) => {
  const fault = clusterFaults(scene.cluster).find((each) => each.id === id);
  if (!fault) throw new Error(`no fault ${id}`);
  await fault.cause();
  expect(await fault.read()).toMatchObject({ holds: true });
  const { alertname, summary, labels } = fault.rule;
  const incident = await scene.open({ name: alertname, title: summary, labels });
  const asked = await scene.until(incident, ({ incident: { state } }) =>
    ['awaiting_approval', 'reported'].includes(state),
  );
  const found = JSON.stringify(asked.events.findLast(({ type }) => type === 'diagnosis.concluded'));
  for (const words of cause) expect(asked.incident.cause, found).toContain(words);
  expect(
    asked.actions.map((action) => action.command),
    found,
  ).toEqual(command === null ? [] : [command]);
  if (command === null) await fault.undo();
  else {
    const done = await scene.approve(incident);
    expect(done.incident).toMatchObject({ state: 'resolved', verdict: 'fixed', resolvedBy: 'confirmed' });
  }
  await waitFor(`${id} to be over`, async () => !(await fault.read()).holds);
});
