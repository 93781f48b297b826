import { type ChosenEffort, type Effort, efforts, isResting, mostEffort } from '../../core/effort.ts';
import type { IncidentEventBody } from '../../core/event.ts';
import { alertFacts } from '../alert-facts.ts';
import type { InvestigationDeps } from '../deps.ts';
import { JOINED_TURN, move } from '../move.ts';
import type { PhaseRun } from './phase-run.ts';

type Work = Pick<PhaseRun, 'deps' | 'incident'>;

/** What is said of an incident that rests, and of what ends that. */
const rests: Readonly<Record<'none' | 'on_demand' | 'triage', string>> = {
  none: 'Only recorded: the policy asks for no more. Press “Investigate” if you want more.',
  on_demand: 'Press “Investigate”, and I look into it.',
  triage: 'First look only: the policy asks for no more. Press “Investigate” to find the cause.',
};

/** What the policy asks for. What a person has opened is looked into; of several alerts the one that asks for most counts. */
export async function chooseEffort({
  deps,
  incident,
}: {
  readonly deps: Pick<InvestigationDeps, 'sql' | 'effort'>;
  readonly incident: Parameters<typeof alertFacts>[1];
}): Promise<ChosenEffort | null> {
  const facts = await alertFacts(deps.sql, incident);
  if (facts.some(({ source }) => source === 'hand')) return null;
  const chosen = mostEffort(await Promise.all(facts.map((each) => deps.effort(each))));
  return chosen?.rule == null ? null : chosen;
}

/** What is on record of the choice. */
export const effortEvents = (chosen: ChosenEffort | null): readonly IncidentEventBody[] =>
  chosen === null ? [] : [{ type: 'effort.chosen', ...chosen }];

/** `open` → `reported`, where the policy asks for nothing, or leaves it to a person. False: it is looked into. */
export async function restsAtOnce({ deps, incident }: Work, chosen: ChosenEffort | null): Promise<boolean> {
  const effort = chosen?.effort;
  if (effort !== 'none' && effort !== 'on_demand') return false;
  await move(deps, incident, {
    from: 'open',
    to: 'reported',
    reason: 'The policy asks for no more.',
    key: 'rests',
    changes: { effort, nextStep: rests[effort] },
    events: effortEvents(chosen),
    turnAfterMs: null,
  });
  return true;
}

/** `resolved` → `reported`: what fires again rests as it would if it were new. False: it is looked into. */
export async function restsAgain({ deps, incident }: Work, chosen: ChosenEffort | null): Promise<boolean> {
  const effort = chosen?.effort ?? null;
  if (!isResting(effort)) return false;
  await move(deps, incident, {
    from: 'resolved',
    to: 'reported',
    reason: 'The same alert fired again, and the policy asks for no more.',
    key: `rests:${incident.round}:${incident.endedAt ?? ''}`,
    changes: {
      effort,
      // What was looked into before has said what it says of its round.
      ...(incident.investigator === null ? {} : { round: incident.round + 1 }),
      verdict: null,
      nextStep: rests[effort],
      sourceResolvedAt: null,
    },
    events: effortEvents(chosen),
    turnAfterMs: null,
  });
  return true;
}

/** `reported`: it came and went, and now fires all the time; the policy asks for no more. False: it is looked into. */
export async function restsOn({ deps, incident }: Work, chosen: ChosenEffort | null): Promise<boolean> {
  const effort = chosen?.effort ?? null;
  if (!isResting(effort)) return false;
  await deps.sql.begin(async (tx) => {
    const rows = await tx`
      UPDATE incident SET effort = ${effort}, next_step = ${rests[effort]}, flapping_until = NULL,
             round = round + (investigator IS NOT NULL)::int, updated_at = clock_timestamp()
       WHERE id = ${incident.id} AND state = 'reported' AND round = ${incident.round} AND flapping_until IS NOT NULL RETURNING 1`;
    if (rows.length === 0) return;
    for (const event of effortEvents(chosen))
      await deps.records.append(tx, incident.id, event, `steady:${incident.round}:${incident.flappingUntil}`);
    // What joined while that was weighed.
    await tx`SELECT sentry_enqueue_turn(${incident.id}, ${JOINED_TURN}, 0)`;
  });
  return true;
}

/** After the first look: what the policy lets rest there. */
export const afterFirstLook = rests.triage;

/** What has joined an incident that rests may ask for more than what it began with. */
export async function raiseEffort(run: PhaseRun): Promise<void> {
  const { deps, incident, durably } = run;
  const { effort } = incident;
  if (incident.state !== 'reported' || !isResting(effort)) return;
  await durably('more', async () => {
    const chosen = (await chooseEffort(run)) ?? { effort: 'adaptive' as const, rule: null };
    if (efforts.indexOf(chosen.effort) > efforts.indexOf(effort)) await raise(deps, incident, effort, chosen);
    return true;
  });
}

async function raise(
  deps: InvestigationDeps,
  incident: PhaseRun['incident'],
  from: 'none' | 'on_demand' | 'triage',
  chosen: ChosenEffort,
): Promise<unknown> {
  const event = { type: 'effort.chosen', ...chosen } as const;
  if (chosen.effort !== 'on_demand')
    return lookInto(deps, incident, from, chosen.effort, {
      reason: 'An alert that asks for more has joined.',
      event,
    });
  return deps.sql.begin(async (tx) => {
    await tx`UPDATE incident SET effort = 'on_demand', next_step = ${rests.on_demand}, updated_at = clock_timestamp()
              WHERE id = ${incident.id} AND state = 'reported' AND effort = 'none'`;
    return deps.records.append(tx, incident.id, event, `effort:${incident.round}:on_demand`);
  });
}
/** It rests, and goes on from where it rests. `already`, `lost`: as `move`. */
export function lookInto(
  deps: InvestigationDeps,
  incident: PhaseRun['incident'],
  from: 'none' | 'on_demand' | 'triage',
  to: Effort,
  { reason, event }: { readonly reason: string; readonly event: IncidentEventBody },
): Promise<'moved' | 'already' | 'lost'> {
  return move(deps, incident, {
    from: 'reported',
    // What had a first look needs no second.
    to: from === 'triage' ? 'diagnosing' : 'triaging',
    reason,
    // It may have rested before, in the same round.
    key: `more:${incident.round}:${incident.updatedAt}`,
    changes: {
      effort: to,
      investigator: deps.claude ? 'claude' : 'playbook',
      nextStep: from === 'triage' ? 'Looking for the cause.' : null,
    },
    events: [event],
  });
}
