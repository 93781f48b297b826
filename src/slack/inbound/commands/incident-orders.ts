import { type Severity, severities } from '../../../core/alert.ts';
import { type Refusal, refuse } from '../../../core/errors.ts';
import { type IncidentId, parseIncidentId } from '../../../core/ids.ts';
import type { Incident } from '../../../core/incident.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { unescapeMrkdwn } from '../../../core/unescape-mrkdwn.ts';
import type { Steered } from '../../../incidents/steering.ts';
import type { SlackContext } from '../../context.ts';
import { type Say, sayText } from '../../outbound/tell.ts';
import { type Asked, incidentHere } from './command.ts';

/** What somebody wants done with an incident as a whole. */
export type Order =
  | { readonly verb: 'stop' }
  | { readonly verb: 'resume' }
  | { readonly verb: 'close'; readonly reason: string }
  /** A Slack id, `me`, or a name after an @. */
  | { readonly verb: 'assign'; readonly to: string }
  | { readonly verb: 'severity'; readonly to: Severity }
  | { readonly verb: 'merge'; readonly into: IncidentId };

/** “close”, “assign …” and “severity …” as somebody says it; `id` null: what is being talked about. */
type Said = { readonly id: IncidentId | null; readonly order: Order };

const WHICH = String.raw`(?:\s+(?:of\s+)?(?:this|it|(inc-[1-9]\d*)))?`;
/** Only what is set off from it is a reason, for “close the connections” and “close INC-7’s sessions” are no order. */
const CLOSE = /^close(?:\s+(?:this|it|(inc-[1-9]\d*)))?(?:[\s.!]*$|\s*:\s*(.*)$|,?\s+because\s+(.*)$)/is;
/** Of a command any words after the name are the reason. */
const CLOSE_BY_COMMAND = /^close\s+(inc-[1-9]\d*)\s+(.*)$/is;
/** Words after which it is no reason, but a condition, an objection or a question. */
const NO_REASON = /^(?:but|not?|don[’']?t|do|if|only|unless|until|when|what|who|why|how|and|or)\b/i;
const ASSIGN = new RegExp(
  String.raw`^assign${WHICH}(?:\s+to)?\s+(?:<@([UW][A-Z0-9]+)(?:\|[^>]*)?>|(me)|(@[^\n<>@]{1,80}?))[\s.!]*$`,
  'i',
);
const SEVERITY = new RegExp(
  String.raw`^(?:set\s+)?severity${WHICH}(?:\s*(?:to|=|:))?\s+(critical|error|warning|info)[\s.!]*$`,
  'i',
);

/** As in the window. */
const MOST_REASON = 500;

/** Null: the text is none of them, asks, or says more. */
export function readIncidentOrder(text: string, isCommand = false): Said | null {
  const said = text.trim();
  if (said.endsWith('?')) return null;
  const idIn = (word: string | undefined): IncidentId | null => parseIncidentId(word ?? '') ?? null;
  const close = CLOSE.exec(said) ?? (isCommand ? CLOSE_BY_COMMAND.exec(said) : null);
  const reason = (close?.[2] ?? close?.[3] ?? '').trim().slice(0, MOST_REASON);
  if (close && !NO_REASON.test(reason)) return { id: idIn(close[1]), order: { verb: 'close', reason } };
  const [, which, user, me, name] = ASSIGN.exec(said) ?? [];
  const to = user ?? me?.toLowerCase() ?? name;
  if (to !== undefined) return { id: idIn(which), order: { verb: 'assign', to } };
  const [, of, word] = SEVERITY.exec(said) ?? [];
  const severity = severities.find((each) => each === word?.toLowerCase());
  return severity ? { id: idIn(of), order: { verb: 'severity', to: severity } } : null;
}

const HOW: Readonly<Record<string, string>> = {
  close: 'Say which: /sentry close INC-7 fixed by hand',
  assign: 'Say which, and to whom: /sentry assign INC-7 @olivia',
  severity: 'Say which, and how bad it is (critical, error, warning or info): /sentry severity INC-7 warning',
};

/** Who wants it, and where they said so. */
export interface Orderer {
  readonly userId: string;
  readonly teamId: string | null;
  readonly channel: string | null;
  readonly threadTs: string | null;
}

/** `/sentry close|assign|severity …`; in a thread of an incident it need not be named. */
export async function incidentCommand(context: SlackContext, asked: Asked): Promise<Say> {
  const { text } = asked;
  const said = readIncidentOrder(unescapeMrkdwn(text), true);
  const id = said?.id ?? (await incidentHere(context, asked));
  const [verb = ''] = text.trim().toLowerCase().split(/\s+/);
  if (!said || !id) return sayText(HOW[verb] ?? '');
  const done = await carryOut(context, id, said.order, asked);
  return sayText(await context.withNames(done.ok ? done.text : done.reason));
}

/** The same by a button, a window, a command and a mention: members who may read of it may, and what was done is on record. */
export async function carryOut(
  context: SlackContext,
  id: IncidentId,
  order: Order,
  who: Orderer,
): Promise<Steered> {
  const { deps, directory, access, outbound } = context;
  const may = await directory.mayAct(who.userId, who.teamId);
  if (!may.ok) return may;
  const incident = await deps.records.incident(id);
  // The same words for both: whether there is one in a private channel is its members' to know.
  if (incident === null || !(await access.mayRead(who.userId, incident, who.channel)))
    return refuse('NOT_TO_SEE', `There is no ${id} that you may see: members of its channel may do that.`);
  const done = await act(context, incident, order, who);
  outbound.pressed(id);
  return done;
}

async function act(context: SlackContext, incident: Incident, order: Order, who: Orderer): Promise<Steered> {
  const { steer, correlation, questions } = context.deps;
  const { userId: by, channel, threadTs } = who;
  switch (order.verb) {
    case 'stop':
      if (channel && threadTs) await questions.stop(channel, threadTs);
      return steer.stop(incident.id, by, '');
    case 'resume':
      return steer.resume(incident.id, by);
    case 'close':
      return steer.close(incident.id, by, order.reason);
    case 'severity':
      return steer.setSeverity(incident.id, by, order.to);
    case 'assign':
      return assign(context, incident, order.to, by);
    case 'merge': {
      const lead = await context.deps.records.incident(order.into);
      if (lead === null || !(await context.access.mayRead(by, lead, channel)))
        return refuse('NOT_TO_SEE', `There is no ${order.into} that you may see.`);
      return correlation.merge(incident.id, order.into, by);
    }
  }
}

/** To somebody who can do something with it: a member who may read of it. */
async function assign(
  { deps, directory, access }: Pick<SlackContext, 'deps' | 'directory' | 'access'>,
  incident: Incident,
  named: string,
  by: string,
): Promise<Steered> {
  const { escalation } = deps;
  const to =
    named === 'me' ? by : isSlackUser(named) ? named : await userCalled(directory, access, incident, named);
  if (typeof to !== 'string') return to;
  if (to === by) return escalation.take(incident.id, by);
  return (await mayHave({ directory, access }, incident, to)) ?? escalation.assign(incident.id, to, by);
}

/** Why somebody cannot have it; null: they can. */
export async function mayHave(
  { directory, access }: Pick<SlackContext, 'directory' | 'access'>,
  incident: Incident,
  to: string,
): Promise<Refusal | null> {
  const may = await directory.mayAct(to, null);
  if (!may.ok) return refuse('NOT_THEIRS', `<@${to}> cannot have it: only people who are members here can.`);
  return (await access.mayRead(to, incident, null))
    ? null
    : refuse('NOT_TO_SEE', `<@${to}> may not read of ${incident.id}: invite them to its channel first.`);
}

/** So many members of a channel are asked for their names. */
const MOST_NAMES = 200;

/** A slash command tells a name, not who that is: it is looked for among those who read the incident's channel. */
async function userCalled(
  directory: SlackContext['directory'],
  access: SlackContext['access'],
  incident: Incident,
  named: string,
): Promise<string | Refusal> {
  const wanted = named.replace(/^@/, '').trim().toLowerCase();
  const members = await directory.channelMembers(await access.channelOf(incident)).catch(() => []);
  const found: string[] = [];
  for (const id of members.slice(0, MOST_NAMES))
    if ((await directory.name(id)).toLowerCase() === wanted) found.push(id);
  const [only] = found;
  return only !== undefined && found.length === 1
    ? only
    : refuse(
        'WHO',
        `I cannot tell who ${named} is. Say it in its thread: mention me with “assign” and them, or choose “Assign” on its card.`,
      );
}
