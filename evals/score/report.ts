import type { IncidentResult } from '../../src/record/incident-results.ts';
import { dollars, seconds, table } from './tables.ts';

/** What real incidents of one kind, investigated in one way, came to. */
export interface ReportRow {
  /** The runbook; else the kind of incident; else `unknown`. */
  readonly what: string;
  readonly investigator: string;
  readonly incidents: number;
  readonly causes: number;
  readonly fixed: number;
  readonly notFixed: number;
  /** People's answers, of all incidents together. */
  readonly right: { readonly yes: number; readonly no: number };
  readonly useful: { readonly yes: number; readonly no: number };
  readonly costUsd: number;
  /** Median from alert to diagnosis. */
  readonly diagnosedMs: number;
}

export function reportRows(results: readonly IncidentResult[]): readonly ReportRow[] {
  const groups = new Map<string, IncidentResult[]>();
  for (const result of results) {
    const key = JSON.stringify([nameOf(result), result.investigator ?? 'nobody']);
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return [...groups.values()]
    .map(rowOf)
    .toSorted((a, b) => b.incidents - a.incidents || (a.what < b.what ? -1 : 1));
}

const nameOf = ({ runbook, kind }: IncidentResult): string => runbook ?? kind ?? 'unknown';

function rowOf(group: readonly IncidentResult[]): ReportRow {
  const sum = (of: (one: IncidentResult) => number): number =>
    group.reduce((total, one) => total + of(one), 0);
  const times = group.map((one) => one.diagnosedMs).toSorted((a, b) => a - b);
  const [first] = group;
  return {
    what: first ? nameOf(first) : 'unknown',
    investigator: first?.investigator ?? 'nobody',
    incidents: group.length,
    causes: group.filter(({ verdict }) => verdict === 'cause_found').length,
    fixed: group.filter(({ outcome }) => outcome === 'fixed').length,
    notFixed: group.filter(({ outcome }) => outcome === 'not_fixed').length,
    right: { yes: sum((one) => one.rightYes), no: sum((one) => one.rightNo) },
    useful: { yes: sum((one) => one.usefulYes), no: sum((one) => one.usefulNo) },
    costUsd: sum((one) => one.costUsd),
    diagnosedMs: times[Math.floor((times.length - 1) / 2)] ?? 0,
  };
}

/** For people; incidents whose cause somebody called wrong are named below. */
export function reportTable(results: readonly IncidentResult[]): string {
  if (results.length === 0) return 'No incident has been diagnosed yet.\n';
  const votes = ({ yes, no }: ReportRow['right']): string => (yes + no === 0 ? '–' : `${yes} yes, ${no} no`);
  const rows = reportRows(results).map((row) => [
    row.what,
    row.investigator,
    String(row.incidents),
    String(row.causes),
    String(row.fixed),
    String(row.notFixed),
    votes(row.right),
    votes(row.useful),
    dollars(row.costUsd),
    seconds(row.diagnosedMs),
  ]);
  const head = [
    'runbook or kind',
    'by',
    'incidents',
    'causes',
    'fixed',
    'not fixed',
    'cause right?',
    'useful?',
    'cost',
    'to diagnosis',
  ];
  const doubted = results.filter(({ rightNo }) => rightNo > 0);
  return [
    table([head, ...rows]),
    ...(doubted.length === 0 ? [] : ['', 'Called wrong by somebody:']),
    ...doubted.map(({ id, title, runbook }) => `  ${id}  ${title}${runbook === null ? '' : ` (${runbook})`}`),
    '',
  ].join('\n');
}
