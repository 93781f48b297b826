import { describe, expect, it } from 'vitest';
import { withMapped } from '../../../evals/mapping/mapping.ts';
import { incidentOf } from '../../../evals/replay/incident-of.ts';
import { createRecordedSession } from '../../../evals/replay/recorded-session.ts';
import { createRecordings } from '../../../evals/replay/recordings.ts';
import { aScenario } from './support.ts';

const outputs = aScenario({
  tool_outputs: [
    { tool: 'tree', args: {}, output: 'first look' },
    { tool: 'session', args: { pid: 7 }, output: 'pid 7' },
    { tool: 'tree', args: {}, output: 'second look' },
    { tool: 'activity', args: { limit: 20 }, output: 'twenty' },
    { tool: 'sizes', args: {}, status: 'error', output: 'permission denied', code: 'POSTGRES_42501' },
  ],
}).tool_outputs;

describe('recorded calls', () => {
  it('come in the order they were recorded, the last one from then on', () => {
    const recordings = createRecordings(outputs);
    const look = () => {
      const found = recordings.find('tree', {});
      return found.kind === 'found' ? found.recorded.output : found.kind;
    };
    expect([look(), look(), look()]).toEqual(['first look', 'second look', 'second look']);
  });

  it('answer a call for more or fewer lines of the same thing, and say so', () => {
    expect(createRecordings(outputs).find('activity', { limit: 5 })).toMatchObject({
      kind: 'found',
      exact: false,
    });
  });

  it('do not answer for another thing', () => {
    const found = createRecordings(outputs).find('session', { pid: 8 });
    expect(found).toMatchObject({ kind: 'missing' });
    expect(found.kind === 'missing' && found.reason).toContain('{"pid":7}');
  });
});

describe('a replay', () => {
  const scenario = aScenario({ tool_outputs: outputs });
  const session = () =>
    createRecordedSession({
      incident: incidentOf(scenario, Date.now()),
      recordings: createRecordings(scenario.tool_outputs),
      acts: (tool) => tool === 'terminate',
      signal: new AbortController().signal,
    });

  it('answers from the recording, with failures as they were, and keeps what was called', async () => {
    const replay = session();
    const work = replay.work('detective');
    const target = replay.incident.target;
    expect(await work.callTool({ tool: 'tree', target, input: {} })).toMatchObject({
      kind: 'ok',
      text: 'first look',
    });
    expect(await work.callTool({ tool: 'sizes', target, input: {} })).toMatchObject({
      kind: 'failed',
      code: 'POSTGRES_42501',
    });
    expect(await work.callTool({ tool: 'rm', target, input: {} })).toMatchObject({ kind: 'refused' });
    expect(await work.callTool({ tool: 'tree', target: 'other', input: {} })).toMatchObject({
      code: 'TARGET_OUT_OF_SCOPE',
    });
    expect(replay.record().toolCalls.map(({ state }) => state)).toEqual([
      'ok',
      'failed',
      'refused',
      'refused',
    ]);
  });

  it('carries out nothing: what acts is noted as a proposal', async () => {
    const replay = session();
    const call = { tool: 'terminate', target: replay.incident.target, input: { pid: 7 } };
    expect(await replay.work('surgeon').callTool(call)).toMatchObject({ kind: 'proposed' });
    expect(replay.proposals).toEqual([call]);
  });

  it('hides from investigators what the author calls the fault', () => {
    const { labels, annotations } = incidentOf(
      aScenario({
        incident: { commonLabels: { k8s_failure_mode: 'oom' }, commonAnnotations: { rds_failure_mode: 'x' } },
      }),
      0,
    );
    expect({ ...labels, ...annotations }).toEqual({});
  });
});

describe('what other systems recorded', () => {
  const metrics = (name: string, values: readonly number[]) =>
    JSON.stringify({
      metric_data_results: [
        {
          metric_name: name,
          dimensions: [{ Name: 'DBInstanceIdentifier', Value: 'shop-replica' }],
          timestamps: values.map((_, at) => `2026-01-01T00:0${at}:00Z`),
          values,
        },
      ],
    });
  const mapped = (...given: readonly { tool: string; output: string }[]) =>
    withMapped(aScenario({ tool_outputs: given }).tool_outputs).slice(given.length);

  it('is read as our tools would tell it, as of the last value', () => {
    expect(
      mapped({ tool: 'aws_cloudwatch_metrics', output: metrics('ReplicaLag', [1, 900.4]) }),
    ).toMatchObject([
      { tool: 'postgres_replication', data: { replica_count: 1, max_replay_lag_seconds: 900 } },
    ]);
    // Without its limit: nothing follows from it alone.
    expect(mapped({ tool: 'aws_cloudwatch_metrics', output: metrics('DatabaseConnections', [90]) })).toEqual([
      expect.objectContaining({ tool: 'postgres_connections', data: { used: 90 } }),
    ]);
  });

  it('is left alone where it says nothing that a tool of ours would, or is no document', () => {
    expect(mapped({ tool: 'aws_cloudwatch_metrics', output: metrics('CPUUtilization', [99]) })).toEqual([]);
    expect(mapped({ tool: 'aws_cloudwatch_metrics', output: 'throttled' })).toEqual([]);
    expect(mapped({ tool: 'kubectl_get', output: '{}' })).toEqual([]);
  });
});
