import { Scenario } from '../../../evals/replay/scenario.ts';
import type { Answer } from '../../../evals/score/answer.ts';
import type { Domain } from '../../../src/core/incident.ts';

export function aScenario(part: {
  readonly id?: string;
  readonly domain?: Domain;
  readonly incident?: Record<string, unknown>;
  readonly tool_outputs?: readonly unknown[];
  readonly expected?: Record<string, unknown>;
}): Scenario {
  return Scenario.parse({
    id: part.id ?? 'one',
    title: 'One',
    ...(part.domain ? { domain: part.domain } : {}),
    incident: { title: 'Queue is full', commonLabels: { alertname: 'QueueFull' }, ...part.incident },
    tool_outputs: part.tool_outputs ?? [],
    expected: { root_cause: 'The importer holds a lock on stock.', ...part.expected },
  });
}

export function anAnswer(part: Partial<Answer> = {}): Answer {
  return {
    id: 'one',
    verdict: 'cause_found',
    rootCause: '',
    category: null,
    confidence: 0.9,
    evidence: [],
    chain: [],
    ruledOut: [],
    unknown: [],
    remedy: null,
    ...part,
  };
}
