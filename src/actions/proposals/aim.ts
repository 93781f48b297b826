import type { Purpose } from '../../core/action.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { ActionId, IncidentId } from '../../core/ids.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import { isCriterion, type Json, type ProposalNotes, type VerifyPlan } from '../../core/tool-call.ts';
import type { Credential } from '../../safety/vault/credentials.ts';
import type { ActiveTool, AnyTool, ShownBy, ToolContext } from '../../tools/define.ts';
import { type AlertCheck, alertIsOver, withAlert } from '../recovery/alert-checks.ts';
import {
  type CriterionQuestion,
  type CriterionReading,
  isAboutThing,
  measuresOf,
  ownSteps,
  withSteps,
  withWatched,
} from '../recovery/criterion.ts';
import { formatSubject, isNamed } from './named.ts';

export type ReadsCriterion = (question: CriterionQuestion) => Promise<CriterionReading>;

/** What a proposal is for, and how its success will be judged. */
export interface Aim {
  readonly purpose: Purpose;
  /** Null for all but a repair. */
  readonly criterion: VerifyPlan | null;
}

/**
 * What is to repair something must be about a thing the diagnosis names, and there must be a way to tell that it helped. The
 * criterion is the runbook's, else the one that code made from the diagnosis's own evidence; never a model's words.
 */
export async function aimOf(
  sql: Sql,
  credential: Credential,
  tool: ActiveTool<unknown, Json>,
  input: Json,
  notes: ProposalNotes | undefined,
  asked: Purpose,
): Promise<Aim | Refusal> {
  if (asked === 'undo') return { purpose: 'undo', criterion: null };
  const diagnosis = await lastDiagnosis(sql, credential.incidentId);
  const stray = strays(tool, input, diagnosis);
  if (stray) return stray;
  if (asked === 'prevent') return prevention(tool);
  const given = notes?.verify;
  const criterion = given && isCriterion(given) ? given : (diagnosis?.criterion ?? null);
  if (criterion !== null) return { purpose: 'repair', criterion };
  return prevention(tool);
}

/** With nothing read red; what only mends is not done then. */
function prevention({ repairsOnly }: ActiveTool<unknown, Json>): Aim | Refusal {
  return repairsOnly
    ? refuse(
        'NO_SYMPTOM',
        'Nothing that was read and cited shows the problem as it is now, so nothing could tell whether this helps. Cite a read that shows it.',
      )
    : { purpose: 'prevent', criterion: null };
}

/** A criterion as it is judged from now on, and what it read when it was proposed. */
export interface Ground {
  readonly criterion: VerifyPlan;
  readonly reading: CriterionReading;
}

/**
 * Red before: the look that shows the problem, or why there is no ground for a repair. The criterion takes in what the alert
 * itself is about, what is wrong with the very thing that is acted on, and the counters that have to stay as they are.
 */
export async function readRed(
  deps: {
    readonly criterion: ReadsCriterion;
    readonly registry: { get(name: string): AnyTool | undefined };
  },
  { incidentId }: Pick<Credential, 'incidentId'>,
  { target, signal }: Pick<ToolContext, 'target' | 'signal'>,
  given: VerifyPlan,
  /** What is acted on, by the reads that show it. */
  things: readonly ShownBy[],
  alertChecks: readonly AlertCheck[],
): Promise<Ground | Refusal> {
  const measures = (tool: string) => measuresOf(deps.registry, tool);
  const ask = (plan: VerifyPlan, purpose: string) =>
    deps.criterion({ incidentId, target: target.name, plan, purpose, signal });
  const reading = await ask(given, 'Is the problem there now?');
  const refusal = notRed(reading);
  if (refusal?.code === 'OVER_BY_ITSELF' && alertChecks.length > 0) {
    // What is blamed is well, which says nothing of the alert's own problem.
    const steps = alertChecks.map(({ step }) => ({ ...step, ofAlert: true as const }));
    const { holds, lines } = await ask({ ...given, steps }, 'Is what the alert is about there now?');
    const state = holds === null ? 'unread' : 'green';
    return notRed({ ...reading, state, holds, lines: [...reading.lines, ...lines] }) ?? refusal;
  }
  if (refusal) return refusal;
  // What is not wrong with a thing now cannot be mended, and need not be wrong when it is acted on.
  const steps = given.steps.map((step, at) =>
    reading.steps[at] === false && isAboutThing(step, things) ? { ...step, own: true as const } : step,
  );
  const own = things.flatMap((thing) => ownSteps(thing, measures));
  const seen = own.length > 0 ? await ask({ ...given, steps: own }, 'Does what it touches show it?') : null;
  const wrong = own.filter((_, at) => seen?.steps[at] === false);
  const judged = await withAlert(withSteps({ ...given, steps }, wrong), reading, alertChecks, (plan) =>
    ask(plan, 'Is what the alert is about there now?'),
  );
  if ('ok' in judged) return judged;
  return { criterion: withWatched(judged, measures), reading };
}

/** Why a repair has no ground: the problem is over, is not that of what it touches, or cannot be read. */
export function notRed({ state, alert, isToBlame, holds, lines }: CriterionReading): Refusal | undefined {
  if (alert === 'green') return alertIsOver(lines);
  if (state === 'red' && isToBlame === false)
    return refuse(
      'NOT_TO_BLAME',
      `The problem is there, and what this would touch shows nothing of it any more, so nothing is run: ${lines.join('; ')}`,
    );
  // What it would touch is well, and what else has to hold does not: another session may be at it now.
  if (state === 'green' && holds === false)
    return refuse(
      'NOT_TO_BLAME',
      `What this would touch shows nothing wrong any more, and not all is well yet, so nothing is run: ${lines.join('; ')}`,
    );
  if (state === 'green')
    return refuse('OVER_BY_ITSELF', `The problem is over by itself, so nothing is run: ${lines.join('; ')}`);
  if (state === 'unread' || isToBlame === null)
    return refuse(
      'SYMPTOM_UNREAD',
      `It cannot be read whether the problem is there, so nothing is run: ${lines.join('; ')}`,
    );
  return undefined;
}

/** What touches nothing that the diagnosis names would change something else than what it blames. */
function strays(
  tool: ActiveTool<unknown, Json>,
  input: Json,
  diagnosis: Diagnosis | null,
): Refusal | undefined {
  const subject = tool.subject?.(input);
  if (subject === undefined) return undefined;
  const isBlamed = diagnosis !== null && blamed(diagnosis).some((text) => isNamed(text, subject));
  if (isBlamed) return undefined;
  return refuse(
    'NOT_BLAMED',
    `The diagnosis does not name ${formatSubject(subject)}: act on what it blames, or say first why this is the cause.`,
  );
}

/** The cause and the claims with evidence. A remedy blames nothing: only a runbook's is taken, which no model wrote. */
function blamed({ origin, rootCause, remedy, evidence }: Diagnosis): readonly string[] {
  const shown = evidence.filter(({ toolCallIds }) => toolCallIds.length > 0);
  return [
    rootCause,
    ...shown.flatMap(({ claim, quote }) => [claim, quote ?? '']),
    ...(origin === 'runbook' && remedy !== null ? [remedy] : []),
  ];
}

async function lastDiagnosis(sql: Sql, incidentId: IncidentId): Promise<Diagnosis | null> {
  const [row] = await sql<{ diagnosis: Diagnosis }>`
    SELECT body->'diagnosis' AS diagnosis FROM event
     WHERE incident_id = ${incidentId} AND type = 'diagnosis.concluded' ORDER BY seq DESC LIMIT 1`;
  return row?.diagnosis ?? null;
}

/** `claim`: right before it ran. `watch`: after it. `after`: some time after it was called fixed. */
export type ReadingPhase = 'proposal' | 'claim' | 'watch' | 'after';

export async function storeReading(
  sql: Sql | Tx,
  of: { readonly incidentId: IncidentId; readonly actionId: ActionId },
  phase: ReadingPhase,
  { state, holds, lines, values }: CriterionReading,
): Promise<void> {
  await sql`
    INSERT INTO criterion_reading (incident_id, action_id, phase, state, holds, lines, readings)
    VALUES (${of.incidentId}, ${of.actionId}, ${phase}, ${state}, ${holds}, ${sql.array([...lines])}::text[],
            ${sql.json([...values])})`;
}
