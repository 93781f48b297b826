import type { ChangeKind } from '../../core/change.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { toldChanges } from '../../core/told-changes.ts';
import { plain } from './plain-question.ts';

/** What of the changes around an incident is asked for. */
export interface ChangesAsked {
  /** `what`: which there were. `blame`: whether one of them caused it. */
  readonly asks: 'what' | 'blame';
  /** Of which kinds; null: of every kind. */
  readonly kinds: readonly ChangeKind[] | null;
  /** As the question calls it: “deployment”. */
  readonly noun: string;
}

/** How people call changes; the first that fits. */
const nouns: ReadonlyArray<readonly [RegExp, string, readonly ChangeKind[] | null]> = [
  [/\b(?:roll-?backs?|undo)\b/, 'rollback', ['rollback']],
  [
    /\b(?:re-?)?deploy|\b(?:releases?d?|roll(?:ed)?[- ]?outs?|ship(?:ped)?|push(?:e[sd])?|merge[sd]?|commit(?:s|ted)?|prs?|versions?|builds?|upgraded?s?|code)\b/,
    'deployment',
    ['deployment', 'rollback'],
  ],
  [/\bmigrat/, 'migration', ['migration']],
  [/\b(?:config\w*|settings?|parameters?)\b/, 'change of a setting', ['config']],
  [/\b(?:feature )?flags?\b/, 'feature flag', ['feature_flag']],
];

/** A system of the incident, as `readChangesAsked` writes its name. */
const NAMED = 'named_';

const ways = {
  IT: `(?:it|this|that|these|${NAMED}|the (?:problem|incident|issue|outage|alert|alarm|error|service|system))`,
  ANYONE: '(?:anyone|anybody|someone|somebody|people|we|they|one of us|the (?:team|devs?|developers?))',
  DONE: '(?:changed?|changes|deploy(?:ed|s)?|re-?deploy(?:ed|s)?|released?|roll(?:ed)? ?out|ship(?:ped)?|push(?:ed)?|merged?|migrated?|upgraded?|updated?|commit(?:ted)?|touch(?:ed)?|configured?)',
  THING: `(?:(?:code|config(?:uration)?|recent|new|bad|broken|last|latest|feature|schema|version|${NAMED}) )*(?:(?:re-?)?deploy(?:ment|ments|s|ed)?|releases?|roll-?outs?|roll-?backs?|undo|migrations?|config(?:uration)?s?|settings?|changes?|flags?|commits?|merges?|prs?|push(?:es)?|upgrades?|versions?|builds?)`,
  OWNED: '(?:(?:the|that|this|a|an|any|some|my|our|your|their) )*',
} as const;

/** Whole questions, from their beginning to their end: what a look does not tell (“what changed in our provider's network?”) is none. */
const shapes: ReadonlyArray<readonly [ChangesAsked['asks'], string]> = [
  [
    'what',
    'what(?: else)?(?: (?:has|have|had|was|is|were|got|did))?(?: been)?(?: ANYONE)?(?: recently| just)? DONE',
  ],
  ['what', 'what(?: is| was)? (?:new|different)'],
  [
    'what',
    '(?:what|which)(?: (?:is|are|was|were))? OWNEDTHING(?: (?:were|was|are|is|have|has|had|got))?(?: (?:there|been|made|done|DONE))*',
  ],
  [
    'what',
    '(?:(?:was|were|is|are|has|have|had)(?: there)?(?: been)? |(?:did|do) (?:we|you|they) (?:have|see) )?OWNEDTHING(?: (?:made|done|live|DONE))*',
  ],
  [
    'what',
    `(?:was|were|is|has|have|had|did) (?:anything|something|${NAMED})(?: been| just| recently| get| got)* DONE`,
  ],
  [
    'what',
    '(?:did|has|have|had) ANYONE(?: just| recently)? DONE(?: (?:anything|something)| OWNEDTHING| IT)?',
  ],
  ['what', '(?:did|has|have|had) ANYONE(?: just| recently)? (?:do|did|make|made|done) OWNEDTHING'],
  ['what', 'who(?: (?:was|has|have|just|last))* DONE(?: (?:anything|something)| OWNEDTHING| IT)?'],
  ['what', 'who(?: (?:just|last))* (?:made|did|ran) OWNEDTHING'],
  [
    'what',
    'when (?:was|were|is|did) (?:OWNEDTHING|IT|ANYONE)(?: last)?(?: (?:made|done|happen|DONE))?(?: IT)?',
  ],
  [
    'blame',
    '(?:did|does|has|have|could|can|might|may|would) (?:OWNEDTHING|IT)(?: have)? (?:caused?|br(?:eak|oken?)|do(?:ne)?|trigger(?:ed)?|start(?:ed)?|explain)(?: IT)?',
  ],
  ['blame', '(?:did|could|can|might|may|would) IT (?:come from|have come from|have to do with) OWNEDTHING'],
  [
    'blame',
    '(?:(?:is|was|were|are|could|can|might|may|would) )?(?:IT )?(?:be |have been )?(?:related to |because of |due to |caused by |from |down to )?OWNEDTHING(?: (?:that|which))?(?: (?:be|have been|caused|broke|did|responsible|guilty|related|the (?:cause|culprit|reason|problem|issue)|to blame|at fault))*(?: IT)?',
  ],
  [
    'blame',
    '(?:what|which|whose) OWNEDTHING (?:caused|broke|did|triggered|is behind|is to blame for|is responsible for)(?: IT)?',
  ],
  ['blame', '(?:is|was) IT THING[- ]related'],
];

/** Each name is written out, also within another. */
function written(shape: string): string {
  const whole = shape.replace(
    /\b(?:IT|DONE|THING)\b|ANYONE|OWNED|THING/g,
    (name) => ways[name as keyof typeof ways],
  );
  return whole === shape ? whole : written(whole);
}

const rows = shapes.map(([asks, shape]) => [asks, new RegExp(`^${written(shape)}$`)] as const);

/** What begins a question, and asks for nothing. */
const BEFORE = /^(?:(?:and|so|ok|hey|hi|but|well|um|please|then|also|wait|maybe|perhaps)\b[\s,]*)+/;
/** What ends one: around when, and of what. */
const AFTER = new RegExp(
  written(
    ' (?:(?:(?:just|right|shortly|immediately) )?(?:before|around|since|after|prior to|until|when|at|in|on|with|to|of|for|as)(?: (?:the |that |this )?(?:time|moment))?(?: (?:IT|then|now|all))?(?: (?:start|started|starts|began|begun|begin|broke|happened|fired|onset))?|recently|lately|today|already|yet|here|there|so far|going on|please)$',
  ),
);
/** Longer ones ask for more than this. */
const LONGEST = 160;

/**
 * Reads a question for the changes around an incident; null: it asks for something else, or nobody has looked at them yet. A system of
 * the incident may be named in it; another one is not answered for.
 */
export function readChangesAsked(text: string, { incident, events }: IncidentRecord): ChangesAsked | null {
  const told = toldChanges(events);
  if (told === null) return null;
  const { target, labels } = incident;
  const through = [...told.found.suspects, ...told.found.afterwards].map((change) => change.through);
  const names = [target, labels['service'], labels['app'], labels['job'], ...through];
  return asksForChanges(
    text,
    names.filter((name): name is string => typeof name === 'string' && name !== ''),
  );
}

/** The same for whoever asks of no incident, in which one of these systems may be named; null: it asks for something else. */
export function asksForChanges(text: string, names: readonly string[] = []): ChangesAsked | null {
  if (text.length > LONGEST) return null;
  const said = shortened(
    names
      .toSorted((one, other) => other.length - one.length)
      .reduce((sofar, name) => sofar.replaceAll(name.toLowerCase(), NAMED), plain(text))
      .replace(/[,;]/g, '')
      .replace(BEFORE, ''),
  );
  const asks = rows.find(([, shape]) => said.some((each) => shape.test(each)))?.[0];
  if (asks === undefined) return null;
  const [, noun, kinds] = nouns.find(([words]) => words.test(said[0] ?? '')) ?? [null, 'change', null];
  return { asks, kinds, noun };
}

/** A question, and what is left of it without one ending after another. */
function shortened(text: string): readonly string[] {
  const shorter = text.replace(AFTER, '');
  return shorter === text || shorter === '' ? [text] : [text, ...shortened(shorter)];
}
