import { MAX_COMMAND, type Risk } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { TouchedObject } from '../../core/denial.ts';
import { isGoneCode, OpsError, type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import { isObject } from '../../core/json-of.ts';
import { sameCommand } from '../../core/same-command.ts';
import type { Json, VerifyPlan } from '../../core/tool-call.ts';
import type { ActionRow } from '../../record/rows.ts';
import { plainJson } from '../../safety/inputs/plain-json.ts';
import { type RateLimit, rateRefusal } from '../../safety/limits/rate-limit.ts';
import type { TargetIdentity } from '../../targets/kind.ts';
import type { ActiveTool, Preflight, ToolContext } from '../../tools/define.ts';
import { onSystem } from '../faults.ts';
import type { GateDeps } from '../gate-deps.ts';
import { autonomyKey, versionedRunbook } from '../policy/autonomy-key.ts';
import type { Demands } from '../policy/rule.ts';
import { systemKey } from '../recovery/same-system.ts';
import type { Screened } from '../screened.ts';
import type { Aim } from './aim.ts';
import type { Plan } from './plan-hash.ts';
import { touchedBy } from './touched.ts';

/** A step of what is to be proposed, as the checks let it through. */
export interface Called {
  readonly tool: ActiveTool<unknown, Json>;
  readonly context: ToolContext;
  readonly input: Json;
  /** For the card. */
  readonly why: string;
}

/** A step as it would stand on the card, with what its approval takes. */
export interface Drafted {
  readonly plan: Omit<Plan, 'denialsAcknowledged'> & Pick<ActiveTool, 'verbs'>;
  readonly demands: Demands;
  /** Something speaks against it: that is for two people to weigh. */
  readonly isObjectedTo: boolean;
  readonly limit: RateLimit | undefined;
  /** After it there is still a way back, also where the tool has no inverse. */
  readonly losesNothing: boolean;
}

type Deps = GateDeps & { readonly screened: Screened };

/** What redaction would have to hide, or a card to cut, cannot be shown, so it cannot be approved: undefined when all of it can be. */
export function hiddenIn(deps: Pick<GateDeps, 'redact' | 'redactJson'>, call: Called): Refusal | undefined {
  const { input } = call;
  const command = call.tool.command(input);
  if (deps.redact(command) !== command || hides(deps, input)) return secretInPlan;
  if (command.length > MAX_COMMAND)
    return refuse(
      'COMMAND_TOO_LONG',
      `It is longer than the ${MAX_COMMAND} characters that a card shows: what nobody can read cannot be approved. Do less at once.`,
    );
  // A placeholder that nothing could be put back for: what would run is not what anybody sees.
  if (PLACEHOLDER.test(command) || PLACEHOLDER.test(canonicalJson(input)))
    return refuse(
      'HIDDEN_IN_PLAN',
      'An argument stands for something that is hidden; such an action cannot be shown, so it cannot be proposed.',
    );
  return undefined;
}

export const secretInPlan = refuse(
  'SECRET_IN_PLAN',
  'The arguments hold what looks like a secret; such an action cannot be shown, so it cannot be proposed.',
);

export function hides({ redactJson }: Pick<GateDeps, 'redactJson'>, value: Json): boolean {
  return canonicalJson(redactJson(value)) !== canonicalJson(value);
}

/** Why it is not run again: it has been, in this incident. What was skipped, or never began, was not tried. */
export async function triedAlready(
  { sql }: Pick<GateDeps, 'sql'>,
  incidentId: IncidentId,
  { tool, context, input }: Called,
  system: string,
): Promise<Refusal | undefined> {
  const command = tool.command(input);
  const ranBefore = await sql<Pick<ActionRow, 'command' | 'state'>>`
    SELECT command, state FROM action WHERE incident_id = ${incidentId}
      AND NOT (${tool.isRepeatable === true} AND round < (SELECT round FROM incident WHERE id = ${incidentId}))
      AND (target = ${context.target.name} OR identity = ${system})
      AND tool = ${tool.name} AND state IN ('failed', 'succeeded') AND tool_call_id IS NOT NULL`;
  const ran = ranBefore.find((row) => sameCommand(row.command, command));
  return (
    ran &&
    refuse(
      'TRIED_ALREADY',
      `"${command}" has already been run in this incident${ran.state === 'failed' ? ' and failed' : ''}; it is not run again.`,
    )
  );
}

/** Reads the state it would change, and writes it down as it would run. */
export async function draftStep(
  deps: Deps,
  { tool, context, input, why }: Called,
  { criterion, purpose }: Aim,
  options: {
    readonly runbookId: string | null;
    readonly identity: TargetIdentity;
    readonly rules: Pick<NonNullable<GateDeps['rules']>, 'demands'>;
  },
): Promise<Drafted | Refusal> {
  const { runbookId, identity, rules } = options;
  const { name: target } = context.target;
  const shown = (text: string): string => drawn(deps, text);
  const before = await onSystem(() => tool.preflight(context, input));
  const guard = plainOf(boundBy(before));
  const objects = touchedBy(tool, input, guard, before, identity.systemIdentifier).map((each) =>
    shownObject(each, shown),
  );
  const limit = tool.limit?.(input, guard, objects);
  const limited = limit && (await rateRefusal(deps.sql, limit));
  if (limited) return limited;
  const { systems = { [target]: systemKey(identity) }, ...verify } = criterion ?? tool.effect(input, guard);
  if (hides(deps, verify as unknown as Json)) return secretInPlan;
  const isObjectedTo = before.objection !== undefined;
  const plan: Drafted['plan'] = {
    tool: tool.name,
    verbs: tool.verbs,
    target,
    input,
    command: tool.command(input),
    guard,
    why: shown(why),
    blastRadius: shown(before.blastRadius),
    preflight: [
      ...(before.objection ? [objectionLine(deps, before.objection)] : []),
      ...before.lines.map(shown),
    ],
    undo: shown(before.undo),
    risk: isObjectedTo ? 'high' : riskOf(before.risk),
    runbookId,
    autonomyKey: autonomyKey(tool, input, versionedRunbook(deps.runbookVersion, runbookId)),
    verify: { ...(plainOf(verify as unknown as Json) as unknown as VerifyPlan), systems },
    objects,
    purpose,
  };
  const demands = await rules.demands(plan);
  return 'ok' in demands
    ? demands
    : { plan, demands, isObjectedTo, limit, losesNothing: before.losesNothing === true };
}

const PLACEHOLDER = /\[(?:redacted:[\w.-]+(?:#\d+)?|withheld\b)/;

/** What is not drawn, and what turns the reading direction, may not stand on a card either. */
const NOT_DRAWN = /(?!\t|\n|\ufe0f)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

const drawn = ({ screened }: Pick<Deps, 'screened'>, text: string): string =>
  screened.line(text.replace(NOT_DRAWN, ''));

/** What speaks against an action, as its card says it. */
export const objectionLine = (deps: Pick<Deps, 'screened'>, objection: string): string =>
  drawn(deps, `⚠ ${objection}`);

/** What must be the same when it runs: the tool's guard, and who feels it where the card says that. */
export function boundBy({ guard, felt = '' }: Preflight): Json {
  return felt !== '' && isObject(guard) ? { ...(guard as object), felt } : guard;
}

/** As the database gives it back, or no hash of it would ever be met again. */
function plainOf(value: Json): Json {
  const plain = plainJson(value);
  if (plain.ok) return plain.value;
  throw new OpsError(plain.code, `What was seen, or how to check it, cannot be kept: ${plain.reason}`, {
    hint: 'This is a mistake in the tool.',
  });
}

/** An object as it stands on a card. */
function shownObject(
  { application, ...object }: TouchedObject,
  shown: (text: string) => string,
): TouchedObject {
  return {
    ...object,
    label: shown(object.label),
    ...(application ? { application: { ...application, label: shown(application.label) } } : {}),
  };
}

/** What a tool calls neither low nor medium is high. */
export function riskOf(risk: Risk): Risk {
  return risk === 'low' || risk === 'medium' ? risk : 'high';
}

/** Whether an error of a preflight means that what the action is about is gone. */
export function isGone(error: unknown): boolean {
  return error instanceof OpsError && isGoneCode(error.code);
}
