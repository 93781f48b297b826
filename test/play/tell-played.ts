import { judge, type Played } from './judge.ts';

/** What a fault came to, for a terminal: one line, what is wrong with it, and the thread where it is wanted. */
export function tellPlayed(played: Played, verbose: boolean): string {
  const { fault, incident, sights, approvals, tookMs, root, said } = played;
  const findings = judge(played);
  const last = sights.at(-1);
  const head = [
    findings.length === 0 ? 'ok   ' : 'WRONG',
    fault.padEnd(21),
    (incident ?? 'no incident').padEnd(11),
    `said ${incident === null ? 'nothing' : (last?.end ?? 'nothing')}`.padEnd(17),
    `is ${last?.isIll ? 'ill' : 'well'}`.padEnd(8),
    `${approvals} approved`,
    `${Math.round(tookMs / 1_000)} s`,
  ].join('  ');
  const wrong = findings.map(({ kind, says }) => `      ${kind}: ${oneLine(says)}`);
  const shown = verbose ? [root, ...said] : findings.length > 0 ? [root] : [];
  const thread = shown.map((text) => `      | ${oneLine(text)}`);
  return `${[head, ...wrong, ...thread].join('\n')}\n`;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 1_500);
