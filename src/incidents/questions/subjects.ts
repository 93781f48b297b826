/** What of an incident's record a question asks for. */
export type Subject =
  | 'approval'
  | 'denial'
  | 'asked'
  | 'called'
  | 'rung'
  | 'closing'
  | 'expiry'
  | 'run'
  | 'cost'
  | 'over'
  | 'now'
  | 'open'
  | 'next'
  | 'time'
  | 'count'
  | 'cause'
  | 'ruledOut'
  | 'target'
  | 'evidence'
  | 'stopped'
  | 'end'
  | 'undone'
  | 'undoable'
  | 'proposed'
  | 'runbook'
  | 'blast'
  | 'impact'
  | 'severity'
  | 'doubt'
  | 'helped'
  | 'mine'
  | 'sentry'
  | 'rights'
  | 'changes'
  | 'usual';

/** Words by which people speak of what a record holds; a word that is none of these, and no word of sentences, is not on record. */
export const subjectOf: ReadonlyArray<readonly [Subject, RegExp]> = [
  [
    'approval',
    /^(approv\w*|allowed|authori[sz]\w*|permit\w*|permission|agreed?|confirmed|decid\w*|decision|accept\w*)$/,
  ],
  [
    'denial',
    /^(den(y|ied|ies|ials?|ying)|reject\w*|refus\w*|declin\w*|void\w*|veto\w*|objected|objections?|opposed)$/,
  ],
  ['expiry', /^(expir\w*|lapse[sd]?|run-out|deadline)$/],
  ['called', /^(pag(e|ed|ing)|notif\w*|pinged|call(s|ed|ing)?|assign(ed|s)?|ack(ed)?|acknowledge[sd]?)$/],
  ['asked', /^(ask(s|ed|ing)?|waits?|waiting)$/],
  ['cost', /^(costs?|spen[dt]|price|expensive|money|dollars?|tokens?|usd|bill|cheap)$/],
  ['stopped', /^(stop\w*|paus\w*|resum\w*)$/],
  [
    'over',
    /^(over|resolved?|fixed|gone|ended|end|finished|closed?|solved?|healthy|ok|okay|fine|well|recovered|still|help(ed|s)?|work(ed|s)?|better|success\w*)$/,
  ],
  ['open', /^(incidents|unresolved|others?)$/],
  ['next', /^(next|plan(s|ned)?|todo|recommend\w*|advice|suggest\w*|should)$/],
  ['count', /^(often|times|seen|recur\w*|repeat\w*|occur\w*|fired?|again|before)$/],
  ['time', /^(long|duration|took|takes?|lasted|since|start(ed)?|beg[au]n|opened|old|timeline)$/],
  [
    'cause',
    /^(causes?|caused|root|wrong|broken?|broke|diagnosis|culprit|explanation|sure|certain|confiden\w*)$/,
  ],
  ['ruledOut', /^(exclud\w*|alternatives?|eliminat\w*|ruled-out|considered|theor(y|ies)|hypothes[ei]s)$/],
  ['target', /^(target|affected|impacted|server|host|database|machine|box|db|instance|node|cluster|where)$/],
  ['undone', /^(undo|undone)$/],
  ['runbook', /^runbooks?$/],
  ['proposed', /^propos(e|es|ed|ing)$/],
  ['blast', /^(blast|risks?|risky|dangerous)$/],
  ['impact', /^impact$/],
  ['severity', /^(severity|sev-?\d?|prio|priority|p[0-5])$/],
  ['evidence', /^(evidence|proof|prove|know)$/],
  [
    'run',
    /^(r[au]n|execut\w*|do|done|did|doing|chang\w*|actions?|commands?|fix|fixes|tr(y|ied)|acted|happen\w*|steps?|appl(y|ied)|touch\w*|perform\w*|fail\w*)$/,
  ],
  ['now', /^(now|current\w*|status|state|stands?|progress|going|summary|update|story)$/],
];
const endings = /^(escalat\w*|ignor\w*|reported)$/;

/** What is asked for by each of these is only this; a question that asks otherwise asks for something else. */
export const askedBy: Readonly<Record<string, readonly Subject[]>> = {
  who: [
    'changes',
    'approval',
    'denial',
    'asked',
    'called',
    'rung',
    'closing',
    'stopped',
    'run',
    'over',
    'undone',
    'proposed',
  ],
  where: ['target', 'evidence'],
  when: [
    'changes',
    'approval',
    'denial',
    'run',
    'stopped',
    'over',
    'time',
    'end',
    'called',
    'rung',
    'closing',
    'expiry',
    'undone',
    'proposed',
  ],
  why: [
    'approval',
    'denial',
    'run',
    'stopped',
    'over',
    'cause',
    'time',
    'target',
    'end',
    'rung',
    'closing',
    'proposed',
  ],
  long: ['time', 'over', 'now', 'called'],
  often: ['count'],
  many: ['count', 'cost', 'run', 'approval', 'open'],
  much: ['cost'],
  how: ['cause', 'evidence', 'now', 'run', 'over', 'cost', 'approval', 'end', 'blast', 'severity'],
};
/** These are of an action; all others are of the whole incident, and of nothing else that may be named. */
export const ofActions: ReadonlySet<Subject> = new Set(['approval', 'denial', 'run', 'undone']);

/** What a word speaks of; undefined: nothing that a record holds. */
export const wordSubject = (word: string): Subject | undefined =>
  subjectOf.find(([, pattern]) => pattern.test(word))?.[0] ?? (endings.test(word) ? 'end' : undefined);
