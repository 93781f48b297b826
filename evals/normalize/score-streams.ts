import { z } from 'zod';
import type { Alert } from '../../src/core/alert.ts';
import { groupKeyOf } from '../../src/ingest/accept.ts';
import { sameProblem, type Told, toldBy } from '../../src/ingest/correlate.ts';
import { type AlertSource, acceptedOf } from '../../src/sources/ports.ts';

/** One delivery of a stream, in the order in which it came, with the problem that it is about. */
export const Delivery = z.object({
  stream: z.string(),
  source: z.string(),
  payload: z.unknown(),
  problem: z.string(),
});
export type Delivery = z.infer<typeof Delivery>;

export interface IdentityScore {
  /** Pairs of alerts of one problem, and of two. */
  readonly same: number;
  readonly different: number;
  /** Pairs that were taken for one wrongly, and that were wrongly left apart: `stream: problem / problem`. */
  readonly merged: readonly string[];
  readonly split: readonly string[];
}

/** Says which problem an alert is taken for; null: the end of one that is not known. */
export type Identify = (alert: Alert) => Promise<string | null>;

/** Pairwise, stream by stream. Throws for a payload that its source refuses: a stream is read whole. */
export async function scoreStreams(
  deliveries: readonly Delivery[],
  sources: readonly AlertSource[],
  identifyFor: (stream: string) => Promise<Identify>,
): Promise<IdentityScore> {
  const score = { same: 0, different: 0, merged: [] as string[], split: [] as string[] };
  for (const stream of new Set(deliveries.map((delivery) => delivery.stream))) {
    const identify = await identifyFor(stream);
    const taken: { readonly problem: string; readonly found: string | null }[] = [];
    for (const delivery of deliveries.filter((each) => each.stream === stream)) {
      const read = await sources
        .find(({ name }) => name === delivery.source)
        ?.read(delivery.payload, { receivedAt: new Date() });
      if (!read?.ok)
        throw new Error(`${stream}: ${delivery.source} cannot be read: ${read?.field} ${read?.reason}`);
      for (const alert of acceptedOf(read))
        taken.push({ problem: delivery.problem, found: await identify(alert) });
    }
    for (const [n, a] of taken.entries())
      for (const b of taken.slice(n + 1)) {
        const isOne = a.problem === b.problem;
        const isTakenForOne = a.found !== null && a.found === b.found;
        score[isOne ? 'same' : 'different'] += 1;
        if (isOne !== isTakenForOne)
          score[isOne ? 'split' : 'merged'].push(`${stream}: ${a.problem} / ${b.problem}`);
      }
  }
  return score;
}

/** By the rule of `sentry_accept_alert` without its database and its times: all that is told is still open. */
export function identifyInMemory(sources: readonly AlertSource[]): Identify {
  interface Problem {
    readonly told: Told;
    /** Of the first of its alerts that tells one: a message may come before it. */
    group: string | null;
    readonly alerts: { readonly source: string; readonly fingerprint: string }[];
  }
  const problems: Problem[] = [];
  return async (alert) => {
    const { source, fingerprint } = alert;
    const partial = sources.find(({ name }) => name === source)?.partialLabels === true;
    const told = toldBy(alert, partial);
    const group = groupKeyOf(alert, null);
    const alike = problems
      .filter(
        (problem) =>
          partial || !problem.alerts.some((one) => one.source === source && one.fingerprint !== fingerprint),
      )
      .map((problem) => ({ problem, sure: sameProblem(told, problem.told) }))
      .filter(({ sure }) => sure > 0)
      .toSorted((a, b) => b.sure - a.sure);
    let found =
      problems.findLast(({ alerts }) => alerts.some((one) => one.fingerprint === fingerprint)) ??
      alike[0]?.problem ??
      problems.find((problem) => group !== null && problem.group === group);
    if (!found) {
      if (alert.status === 'resolved') return null;
      found = { told, group, alerts: [] };
      problems.push(found);
    }
    found.group ??= group;
    found.alerts.push({ source, fingerprint });
    return String(problems.indexOf(found));
  };
}
