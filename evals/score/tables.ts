import type { RecoveryRun, RecoverySummary } from '../recovery/run-recovery.ts';
import type { EvalResult, EvalRun, EvalSummary } from './run-evals.ts';

/** Rows as columns of equal width; the last one is left as it is. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** What a run has shown, one line an incident, for people. */
export function runTable(run: EvalRun): string {
  const rows = run.incidents.map((one) => [
    one.id,
    one.outcome,
    one.score.toFixed(2),
    one.answer.verdict,
    one.answer.confidence.toFixed(2),
    dollars(one.costUsd),
    seconds(one.wallMs),
    one.failed ?? one.notes.join('; '),
  ]);
  return `${table([['incident', 'outcome', 'score', 'verdict', 'sure', 'cost', 'time', 'notes'], ...rows])}\n\n${summaryLines(run)}\n`;
}

function summaryLines({ summary, incidents }: EvalRun): string {
  const withRunbook = incidents.filter(({ runbook }) => runbook !== null);
  const part =
    withRunbook.length === 0 || withRunbook.length === incidents.length
      ? ''
      : `\nWith a runbook: ${withRunbook.length} incidents, score ${mean(withRunbook).toFixed(3)}; without: ${incidents.length - withRunbook.length}.`;
  return `${words(summary)}${part}${scepticLine(incidents)}`;
}

/** What the second look did, and to how many that were right. */
function scepticLine(incidents: readonly EvalResult[]): string {
  const looks = incidents.flatMap(({ sceptic }) => (sceptic === null ? [] : [sceptic]));
  if (looks.length === 0) return '';
  const downgraded = looks.filter((look) => look.downgraded);
  const right = downgraded.filter(({ wasRight }) => wasRight).length;
  const missed = looks.filter(({ notChecked }) => notChecked !== null).length;
  return `\nSceptic: ${looks.length} looked at, ${downgraded.length} downgraded, ${right} of them right before; ${missed} not double-checked.`;
}

function words(summary: EvalSummary): string {
  return [
    `${summary.incidents} incidents: score ${summary.score.toFixed(3)}, ${summary.correct} correct, ${summary.abstained} abstained,`,
    `${summary.falseCauses} false causes; ${dollars(summary.costUsd)}, ${seconds(summary.wallMs)}.`,
  ].join(' ');
}

/** How each play ended, one line a play, and what every planner came to. */
export function recoveryTable({ plays, byPlanner }: RecoveryRun): string {
  const rows = plays.map((one) => [
    one.id,
    one.planner,
    one.outcome,
    one.score.toFixed(2),
    one.ending,
    one.ran.join(', ') || '-',
    dollars(one.costUsd),
    seconds(one.wallMs),
    one.notes.join('; '),
  ]);
  const head = ['case', 'planner', 'outcome', 'score', 'ended', 'ran', 'cost', 'time', 'notes'];
  return `${table([head, ...rows])}\n\n${Object.entries(byPlanner).map(recoveryLine).join('\n')}\n`;
}

function recoveryLine([planner, summary]: readonly [string, RecoverySummary]): string {
  return [
    `${planner}: ${summary.plays} cases, score ${summary.score.toFixed(3)}, false fixed: ${summary.falseFixed},`,
    `${summary.right} right, ${summary.cautious} cautious, ${summary.wrong} wrong;`,
    `${summary.wrongProposals} wrong proposals made, ${summary.refusedRight} right ones refused;`,
    `${dollars(summary.costUsd)}, ${seconds(summary.wallMs)}.`,
  ].join(' ');
}

const mean = (results: readonly EvalResult[]): number =>
  results.reduce((sum, { score }) => sum + score, 0) / Math.max(1, results.length);

export const dollars = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 0)} s`;
