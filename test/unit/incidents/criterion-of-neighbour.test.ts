import { expect, test } from 'vitest';
import { redMeasures } from '../../../src/actions/recovery/criterion.ts';
import { asToolCallId } from '../../../src/core/ids.ts';
import type { ToolCall } from '../../../src/core/tool-call.ts';
import { criterionOf } from '../../../src/incidents/recovery/criterion.ts';
import { allTools } from '../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { aToolCall } from '../../support/incident-record.ts';

const registry = createRegistry(allTools);
const gate = {
  redMeasures: (call: ToolCall) => redMeasures(registry, call, null),
  measures: (name: string) => {
    const tool = registry.get(name);
    return (tool && 'measures' in tool ? tool.measures : undefined) ?? [];
  },
};
const alert = (target: string, returned: number | null): ToolCall => ({
  ...aToolCall(),
  id: asToolCallId('tc_alert'),
  tool: 'prometheus_alert',
  target,
  input: { alert: 'QueueSlow', labels: {}, minutes: 60 },
  result: { returned },
});
const chosen = (call: ToolCall) =>
  criterionOf(gate, {}, { target: 'orders-db' }, [call], { holdMs: 1, timeoutMs: 2 }, null)?.criterion.steps;

test('an alert’s own expression that is red on a neighbour is read there, and says whose it is', () => {
  expect(chosen(alert('prom-1', 2))).toEqual([
    {
      tool: 'prometheus_alert',
      target: 'prom-1',
      input: { alert: 'QueueSlow', labels: {}, minutes: 60 },
      measure: { name: 'alert_condition', bound: 0 },
      says: 'the alert’s own condition holds for no series, says prom-1',
    },
  ]);
  expect(chosen(alert('orders-db', 2))?.[0]).not.toHaveProperty('target');
});

test('one that returns nothing, or that cannot be told, is none', () => {
  expect(chosen(alert('prom-1', 0))).toBeUndefined();
  expect(chosen(alert('prom-1', null))).toBeUndefined();
});
