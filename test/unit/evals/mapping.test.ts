import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { withMapped } from '../../../evals/mapping/mapping.ts';
import { replayPlaybook } from '../../../evals/replay/investigators.ts';
import { runEvals } from '../../../evals/score/run-evals.ts';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../src/runbooks/runbook.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { aScenario } from './support.ts';

let runbooks: readonly Runbook[];
beforeAll(async () => {
  const folder = fileURLToPath(new URL('../../../runbooks', import.meta.url));
  ({ runbooks } = await loadRunbooks(folder, { tools: createRegistry(allTools) }));
});

const pod = (state: string, events = '') => `stdout:
Name:             till-5c9f7d8b6c-x2k4p
Namespace:        market
Node:             worker-3/10.0.0.7
Start Time:       Mon, 02 Feb 2026 10:00:00 +0100
Labels:           app=till
                  pod-template-hash=5c9f7d8b6c
Status:           Running
Controlled By:    ReplicaSet/till-5c9f7d8b6c
Containers:
  till:
    Image:          market/till:4.2
${state}
    Limits:
      memory:  64Mi
Conditions:
  Type              Status
  Ready             False
  PodScheduled      ${events === '' ? 'True' : 'False'}
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
${events}

stderr:
`;
const WAITS = (last: string, code: number) => `    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       ${last}
      Exit Code:    ${code}
    Ready:          False
    Restart Count:  9`;
const RUNS = `    State:          Running
      Started:      Mon, 02 Feb 2026 10:00:03 +0100
    Ready:          True
    Restart Count:  3`;

const alert = (alertname: string, labels: Record<string, string> = {}) => ({
  title: alertname,
  commonLabels: { alertname, namespace: 'market', pod: 'till-5c9f7d8b6c-x2k4p', ...labels },
});
const described = (output: string) => ({
  tool: 'kubectl_describe',
  args: { kind: 'pod', name: 'till-5c9f7d8b6c-x2k4p', namespace: 'market' },
  output,
});
async function answer(incident: Record<string, unknown>, ...tool_outputs: readonly unknown[]) {
  const scenarios = [aScenario({ domain: 'kubernetes', incident, tool_outputs })];
  const signal = new AbortController().signal;
  const run = await runEvals({
    scenarios,
    make: replayPlaybook(runbooks),
    tools: allTools,
    mapped: true,
    signal,
  });
  return run.incidents[0]?.answer;
}
const mapped = (...tool_outputs: readonly unknown[]) =>
  withMapped(aScenario({ tool_outputs }).tool_outputs).filter(({ tool }) => tool.startsWith('kubernetes_'));

describe('a pod as kubectl describes it', () => {
  it('that is killed for memory is told with its workload, asked for by either name', async () => {
    const output = described(pod(WAITS('OOMKilled', 137)));
    for (const labels of [{}, { deployment: 'till' }]) {
      const found = await answer(alert('KubePodOOMKilled', labels), output);
      expect(found).toMatchObject({ verdict: 'cause_found' });
      expect(found?.rootCause).toMatch(/till uses more memory than its limit/);
      // Which revisions there are was not recorded.
      expect(found?.rootCause).not.toMatch(/differs|changed/);
    }
  });

  it('that dies is told by its log, and not at all where the log states no reason', async () => {
    const dies = described(pod(WAITS('Error', 1)));
    const log = (output: string) => ({
      tool: 'kubectl_previous_logs',
      args: { pod_name: 'till-5c9f7d8b6c-x2k4p', namespace: 'market' },
      output,
    });
    const said = await answer(
      alert('KubePodCrashLooping'),
      dies,
      log('stdout:\nError: connect ECONNREFUSED 10.3.0.9:5432\n\nstderr:\n'),
    );
    expect(said).toMatchObject({ verdict: 'cause_found' });
    expect(said?.rootCause).toContain('ECONNREFUSED 10.3.0.9:5432');
    for (const nothing of [
      [],
      [log('stdout:\nINFO 12 tills\n')],
      // Of another pod.
      [{ ...log('FATAL: out of memory'), args: { pod_name: 'scale-1' } }],
    ])
      expect(await answer(alert('KubePodCrashLooping'), dies, ...nothing)).toMatchObject({
        verdict: 'cannot_tell',
      });
  });

  it('that no node takes is told in the words of the scheduler', () => {
    const event =
      '  Warning  FailedScheduling  3m    default-scheduler  0/3 nodes are available: 1 node(s) had untolerated taint {gpu: yes}, 2 Insufficient memory. preemption: 0/3 nodes are available.';
    const [why] = mapped(described(pod('    State:          Waiting', event)));
    expect(why?.data).toMatchObject({
      reason: 'unschedulable',
      unschedulable: ['had untolerated taint {gpu: yes}', 'Insufficient memory'],
    });
  });

  it('that is well, or another text, says nothing of its workload', async () => {
    expect(mapped(described(pod(RUNS)))).toEqual([]);
    expect(mapped(described('Name: worker-3\nRoles: <none>\nConditions:\n  Ready True'))).toEqual([]);
    expect(mapped(described('Error from server (NotFound): pods "till" not found'))).toEqual([]);
    expect(await answer(alert('KubePodCrashLooping'), described(pod(RUNS)))).toMatchObject({
      verdict: 'cannot_tell',
    });
  });

  it('is found by the subject of a finding that has no labels', async () => {
    const incident = {
      title: 'Pod was OOMKilled',
      commonLabels: {},
      issue: { name: 'KubePodOOMKilled' },
      request: { subject: { kind: 'pod', name: 'till-5c9f7d8b6c-x2k4p', namespace: 'market' } },
    };
    expect(await answer(incident, described(pod(WAITS('OOMKilled', 137))))).toMatchObject({
      verdict: 'cause_found',
    });
  });
});

describe('what tools for EKS show', () => {
  const eks = (tool: string, document: unknown) => ({ tool, output: JSON.stringify(document) });
  const pods = (state: Record<string, unknown>, conditions: readonly unknown[] = []) =>
    eks('eks_pods', {
      pods: [
        {
          name: 'till-5c9f7d8b6c-x2k4p',
          namespace: 'market',
          phase: 'Pending',
          node_name: 'worker-3',
          containers: [{ name: 'till', ready: false, restart_count: 0, state }],
          conditions,
        },
      ],
    });
  const deployments = eks('eks_deployments', {
    deployments: [{ name: 'till', namespace: 'market', desired: 2, ready: 1, available: 1, unavailable: 1 }],
  });

  it('of an image that is not there names it, asked for by its deployment', async () => {
    const state = {
      waiting: true,
      reason: 'ErrImagePull',
      message: 'Failed to pull image "market/till:4.3": not found',
    };
    const found = await answer(
      alert('KubePodImagePullBackOff', { deployment: 'till' }),
      pods(state),
      deployments,
    );
    expect(found).toMatchObject({ verdict: 'cause_found' });
    expect(found?.rootCause).toMatch(/market\/till:4\.3 of till is not in its registry/);
  });

  it('of nodes does not say whether one is cordoned', async () => {
    const refused = {
      type: 'PodScheduled',
      status: 'False',
      message: '0/1 nodes are available: 1 Insufficient cpu.',
    };
    const node = {
      name: 'worker-3',
      ready: 'True',
      memory_pressure: 'False',
      disk_pressure: 'False',
      pid_pressure: 'False',
    };
    const outputs = [
      pods({ waiting: true }, [refused]),
      deployments,
      eks('eks_node_health', { nodes: [node] }),
    ];
    expect(mapped(...outputs).find(({ tool }) => tool === 'kubernetes_nodes')?.data).not.toHaveProperty(
      'cordoned',
    );
    const found = await answer(alert('KubePodPending', { deployment: 'till' }), ...outputs);
    expect(found).toMatchObject({ verdict: 'cause_found' });
    expect(found?.rootCause).toContain('Insufficient cpu');
  });

  it('in another shape is left alone', () => {
    expect(mapped(eks('eks_pods', { pods: [{ name: 7 }] }), eks('eks_node_health', ['?']))).toEqual([]);
    expect(mapped({ tool: 'eks_pods', output: 'Unable to connect' })).toEqual([]);
  });
});
