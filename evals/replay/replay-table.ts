import { dollars, seconds, table } from '../score/tables.ts';
import type { Course, ReplayReport } from './replay.ts';

/** Both courses side by side, for people. */
export function replayTable({ incidentId, recorded, replayed, compared }: ReplayReport): string {
  const rows = (
    [
      ['', (course) => course.investigator],
      ['verdict', (course) => course.diagnosis?.verdict ?? '–'],
      ['kind', (course) => course.diagnosis?.category ?? '–'],
      ['sure', (course) => course.diagnosis?.confidence.toFixed(2) ?? '–'],
      ['evidence', (course) => String(course.diagnosis?.evidence.length ?? 0)],
      ['tool calls', (course) => String(course.calls)],
      ['cost', (course) => dollars(course.costUsd)],
      ['time', (course) => (course.wallMs === null ? '–' : seconds(course.wallMs))],
    ] as const satisfies readonly (readonly [string, (course: Course) => string])[]
  ).map(([name, of]) => [name, of(recorded), of(replayed)]);
  const tools = [...new Set([...Object.keys(recorded.tools), ...Object.keys(replayed.tools)])]
    .toSorted()
    .map((tool) => [`  ${tool}`, String(recorded.tools[tool] ?? 0), String(replayed.tools[tool] ?? 0)]);
  return [
    table([[incidentId, 'recorded', 'replayed'], ...rows, ...tools]),
    '',
    `recorded: ${recorded.diagnosis?.rootCause ?? 'no diagnosis is on record'}`,
    `replayed: ${replayed.diagnosis?.rootCause ?? 'none'}`,
    `The causes share ${Math.round(compared.causeLikeness * 100)} % of their words${compared.sameVerdict ? '' : '; the verdicts differ'}.`,
    ...(replayed.failed === null ? [] : [`The replay gave up: ${replayed.failed}`]),
    ...replayed.dropped.map((claim) => `dropped: ${claim}`),
    '',
  ].join('\n');
}
