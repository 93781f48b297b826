import { type IncidentId, readIncidentId } from '../../../core/ids.ts';
import { trimMarks } from '../../../core/trim-marks.ts';
import { BEFORE, isMuteOrder, readOrder } from '../events/read-order.ts';
import type { Command, HelpGroup } from './command.ts';
import { readIncidentOrder } from './incident-orders.ts';
import { readMergeOrder } from './merge-command.ts';

/** Where something is said. */
export interface Place {
  /** What is talked about there; null: nothing that is known. */
  readonly incident: IncidentId | null;
  /** In the thread of that incident, before everybody in it. */
  readonly inThread: boolean;
}

/** A command as it was said, in the words in which it would be typed after `/sentry`. */
export interface Spoken {
  readonly name: string;
  readonly text: string;
  /** It is of the incident in whose thread it was said: everybody there hears the answer. */
  readonly forAll: boolean;
}

/** What follows a command's name. */
interface Heard extends Place {
  /** As it was said, line ends included. */
  readonly raw: string;
  /** Without the marks and courtesies around it. */
  readonly rest: string;
  /** All that was said, the name and what stands before it as well. */
  readonly whole: string;
}

/** What would be typed after the name; null: it is a sentence or a question that merely begins with it. */
type Grammar = (heard: Heard) => string | null;

/** Nothing, or which incident: “ack”, “cost of this incident”, “report inc 7”. */
const ofIncident: Grammar = ({ rest, incident }) => {
  const which = rest.replace(/^(?:of|on|for|about)\s+/i, '');
  return which === '' || /^(?:this|it|that|here|(?:this|the|our) incident)$/i.test(which)
    ? (incident ?? '')
    : (readIncidentId(which) ?? null);
};

/** In its own thread it is a question like others, which the record answers in three lines. */
const askedInThread: Grammar = (heard) => {
  const id = ofIncident(heard);
  return heard.inThread && id === heard.incident ? null : id;
};

const fits =
  (pattern: RegExp): Grammar =>
  ({ rest }) =>
    pattern.test(rest) ? rest : null;

/** As systems and services are called; a plain word is a name where a preposition says so. */
const NAME = String.raw`(?=\S*[-_.\d/:])[\w./:-]+`;
const NAMED = String.raw`(?:${NAME}|(?:of|on|for|in|at)\s+[\w./:-]+)`;
/** A verb right after it makes what stands before it the subject of a sentence: “memory search is slow”. */
const NO_VERB = String.raw`(?!\s*(?:is|are|was|were|has|have|had|does|do|did|will|would|can|could|should|must|may|might|isn|aren|wasn|weren|hasn|doesn|didn|won|can)\b)`;
const search = (verbs: string): RegExp => new RegExp(String.raw`^(?:${verbs})\s+${NO_VERB}\S`, 'i');
const nothingOr = (...patterns: readonly RegExp[]): RegExp =>
  new RegExp(['^$', ...patterns.map(({ source }) => source)].join('|'), 'i');

/** “ack, looking into it”: whoever says so goes on about themselves. */
const OF_ONESELF = /^\s*[,.;:!–—-]\s*(?:(?:i|we)\b|on it\b|mine\b|looking\b|checking\b|taking\b)/i;

const order = (heard: Heard, verb: 'stop' | 'resume'): string | null => {
  const read = readOrder(heard.whole, heard);
  if (read?.verb !== verb) return null;
  return read.scope ?? `${heard.inThread ? (heard.incident ?? '') : ''} ${read.reason}`.trim();
};

const asTyped =
  (isOrder: (text: string) => boolean, name: string): Grammar =>
  ({ raw }) =>
    isOrder(`${name} ${raw}`) ? raw : null;

const isIncidentOrder = (text: string): boolean => readIncidentOrder(text) !== null;
const isMergeOrder = (text: string): boolean => readMergeOrder(text) !== null;

/** Of a system or service, how far back. In an incident's thread those around it are asked for, which its record tells. */
const CHANGES = new RegExp(
  String.raw`^(?:(?:${NAMED})(?:\s+|$))?(?:(?:(?:since|in|for|within)\s+)?(?:the\s+)?(?:last\s+)?\d+[mhd])?$`,
  'i',
);
const changes: Grammar = ({ rest, inThread }) =>
  CHANGES.test(rest) && !(inThread && rest === '') ? rest : null;

/** Of all others: nothing, or which incident. */
const grammars: Readonly<Record<string, Grammar>> = {
  why: askedInThread,
  status: askedInThread,
  incidents: fits(nothingOr(/^(?:open|today|mine|my|all|newest)$/, new RegExp(`^${NAMED}$`))),
  investigate: ({ raw, inThread }) => (inThread || raw === '' ? null : raw),
  ack: (heard) => ofIncident(heard) ?? (OF_ONESELF.test(heard.raw) ? (heard.incident ?? '') : null),
  stop: (heard) => order(heard, 'stop'),
  resume: (heard) => order(heard, 'resume'),
  ...Object.fromEntries(
    ['close', 'assign', 'severity'].map((name) => [name, asTyped(isIncidentOrder, name)]),
  ),
  ...Object.fromEntries(['merge', 'split'].map((name) => [name, asTyped(isMergeOrder, name)])),
  ...Object.fromEntries(
    ['mute', 'mutes', 'unmute', 'silence'].map((name) => [name, asTyped(isMuteOrder, name)]),
  ),
  watch: fits(nothingOr(/^(?:list)$/, new RegExp(String.raw`^(?:stop|start)\s+${NAME}(?:\s+\S+)?$`))),
  memory: fits(nothingOr(/^list$/, search('list|search|remember|forget|show'))),
  runbooks: fits(nothingOr(/^list$/, search('search|for|about|on'), new RegExp(`^${NAME}$`))),
  changes,
  targets: fits(nothingOr(new RegExp(`^${NAMED}$`))),
  oncall: fits(nothingOr(/^now$/, new RegExp(`^${NAMED}$`))),
  ...Object.fromEntries(['handoff', 'promotions'].map((name) => [name, fits(/^$/)])),
  settings: fits(nothingOr(/^(?:me|mine|my)$/)),
  help: fits(nothingOr(/^me$/)),
};

/** What changes something: it is ordered, and to ask about it orders nothing. */
const ORDERS: ReadonlySet<HelpGroup> = new Set(['Take', 'Stop', 'One problem, or two', 'Mute', 'Watch']);
/** What becomes of an incident, its thread is told. */
const TOLD: ReadonlySet<HelpGroup> = new Set(['Take', 'Stop', 'One problem, or two', 'Mute']);
/** Read in its thread, since they are of that incident alone. A report stands there itself; what is said of it is for who asked. */
const READ_IN_THREAD: ReadonlySet<string> = new Set(['cost', 'update']);

/**
 * Reads what somebody says to the bot as a command: its first word is a command's name, and the rest is what may follow it. “update”
 * is one, and “update the config first” is not. `/sentry …` is one whatever follows.
 */
export function readCommand(
  said: string,
  commands: readonly Pick<Command, 'name' | 'group'>[],
  place: Place,
): Spoken | null {
  const whole = said.trim();
  const typed = /^\/sentry\b/i.test(whole) ? whole.replace(/^\/sentry\b/i, '').trim() : null;
  const told = typed ?? whole.replace(BEFORE, '').replace(/^set\s+(?=severity\b)/i, '');
  const [, word = '', raw = ''] = /^([a-z]+)(?![\w'’])\s*(.*)$/is.exec(twoWords(told)) ?? [];
  const command = commands.find(({ name }) => name === word.toLowerCase());
  if (!command) return typed === null ? null : { name: '', text: typed, forAll: false };
  const { name, group } = command;
  const literal = typed === null ? null : raw;
  const asks = /\?\s*$/.test(raw) && ORDERS.has(group) && !['stop', 'resume'].includes(name);
  const polite = /\b(?:can|could) you\b/i.test(whole.slice(0, -raw.length));
  const heard = { ...place, whole: typed ?? whole, raw: raw.replace(/\?\s*$/, '').trim(), rest: bare(raw) };
  const rest = (asks && !polite ? null : (grammars[name] ?? ofIncident)(heard)) ?? literal;
  if (rest === null) return null;
  const isOfThread = TOLD.has(group) || (READ_IN_THREAD.has(name) && rest === place.incident);
  return { name, text: `${name} ${rest}`.trim(), forAll: place.inThread && isOfThread };
}

/** Two names that people write in two words. */
const twoWords = (text: string): string =>
  text.replace(/^on[ -]call\b/i, 'oncall').replace(/^hand[ -]?(?:off|over)\b/i, 'handoff');

const COURTESY =
  /(?:^|[\s,.!]+)(?:please|pls|thanks|thank you|thx|now|for me|:[a-z0-9_+-]+:|\p{Extended_Pictographic}\uFE0F?)$/iu;

/** No command takes so much. */
const MOST = 400;

function bare(raw: string): string {
  if (raw.length > MOST) return raw;
  const rest = trimMarks(raw, { before: ' ,', after: ' ,.!?' });
  const shorter = rest.replace(COURTESY, '');
  return shorter === rest ? rest : bare(shorter);
}
