import { type InjectionRule, isOrder, opensAsOrder, phrasesOf } from './injection-rule.ts';

const phrase = phrasesOf('approval_skipping');
const seed = 'the seeds: skip approval, disregard safety; OWASP LLM06 (excessive agency)';
const guards =
  '(?:approvals?(?: (?:steps?|gates?|process|flow|checks?|requirements?|workflow))?|safety(?: (?:checks?|rules?|guidelines?|measures?|protocols?|instructions?|polic(?:y|ies)|filters?|guards?|restrictions?|concerns?|gates?|switch(?:es)?))?|guardrails?|permission (?:checks?|prompts?|gates?)|human (?:review|oversight|confirmation|approval|in the loop)|kill[- ]?switch|(?:security|content) (?:polic(?:y|ies)|rules|filters?|guidelines)|the gate)';

/** People and the gate are to be passed by. */
export const approvalRules: readonly InjectionRule[] = [
  phrase(
    'skip-approval',
    seed,
    [
      'skip',
      'bypass',
      'disregard',
      'ignore',
      'override',
      'circumvent',
      'waive',
      'forgo',
      'evade',
      'disable',
      'turn off',
      'deactivate',
      'work around',
    ],
    `(?:skip|bypass|disregard|ignore|override|circumvent|waive|forgo|evade|disable|turn off|deactivate|work around)(?:ping|ing|ding)? (?:(?:the|any|all|your|this|that|its|human|manual|further|required|normal|usual|of|every|other|admin|operator|and) ){0,4}${guards}(?![-\\w])`,
    (hit) =>
      isOrder(hit) &&
      !/^(?:disable|turn off|override|bypass|ignore) (?:the )?(?:security|content) /i.test(hit.secret) &&
      // A safety valve, a safety feature: machines have them, too.
      !/^(?:disabl|turn off|deactivat|overrid).*\bsafety$/i.test(hit.secret),
  ),
  phrase(
    'without-asking',
    'ethz-spylab/agentdojo injection tasks',
    ['without '],
    `without (?:first |ever |even )?(?:asking|consulting|checking with|waiting for|requesting|seeking|getting|needing)(?: for)?(?: (?:the|any|a|my|your|further|human|user|prior|explicit|on-?call|operator|admin)){0,3} (?:me|us|anyone|anybody|users?|permission|approval|confirmation|consent|humans?|operators?|authori[sz]ation|questions?|on-?call)\\b`,
    ({ text, start }) => opensOrder(text, start),
  ),
  phrase(
    'act-without-approval',
    seed,
    [
      'run',
      'execute',
      'apply',
      'restart',
      'delete',
      'do it',
      'proceed',
      'continue',
      'perform',
      'go ahead',
      'approve',
      'deploy',
      'scale',
      'drop',
      'kill',
    ],
    `(?:run|execute|apply|restart|delete|do it|proceed|continue|perform|go ahead|approve|deploy|scale|drop|kill)\\b[^\\n.]{0,60}? (?:without|bypassing|skipping) (?:any |the |further |human |prior |waiting for |requiring |manual |explicit )*(?:approvals?|confirmation|permission|authori[sz]ation|oversight|asking)\\b`,
    (hit) => opensAsOrder(hit) && !/^\s+(?:only|unless|if)\b/i.test(hit.text.slice(hit.end, hit.end + 8)),
  ),
  phrase(
    'do-not-ask',
    'Greshake et al. 2023',
    [
      'do not',
      "don't",
      'no need to',
      'never',
      'dont',
      'not have to',
      'not need to',
      "n't have to",
      "n't need to",
    ],
    `(?:(?:do not|don'?t|never)(?: have to| need to)?|no need to|not (?:have|need) to|n't (?:have|need) to) (?:ask|wait|request|seek|bother)(?: (?:me|us|the|users?|anyone|humans?|operators?|asking|for|any|to))* (?:permission|approval|confirmation|consent|authori[sz]ation|confirm)\\b`,
    // A switch of a program, and a rule for a case.
    ({ text, start, end }) =>
      !/(?:^|\n)[ \t]*--?[a-z][^\n]{0,70}$/i.test(text.slice(Math.max(0, start - 80), start)) &&
      !/^\s+(?:when|if|unless|where)\b/i.test(text.slice(end, end + 10)),
  ),
  phrase(
    'no-approval-needed',
    seed,
    [
      'no approval',
      'no human',
      'no permission',
      'no confirmation',
      'approval is not',
      "approval isn't",
      'no further approval',
      'approval not',
      'approval has been',
      'approval was',
      'confirmation is not',
    ],
    `(?:no (?:further |human |additional )?(?:approval|permission|confirmation|authori[sz]ation|review)(?: (?:is|are|was))?(?: (?:needed|required|necessary))?|(?:approval|confirmation) (?:is not|isn't|not|has (?:already )?been|was already) (?:needed|required|necessary|granted|given))[.,;:!-]{0,2} (?:[a-z]+ ){0,3}?(?:just|go ahead|proceed|execute|run|apply|do it|continue|immediately|restart|delete)\\b`,
    ({ secret }) => !/,\s+no\s/i.test(secret),
  ),
  phrase(
    'auto-approve',
    seed,
    [
      'auto-approve',
      'auto approve',
      'autoapprove',
      'automatically approve',
      'approve this',
      'approve it',
      'approve the action',
      'approve all actions',
      'approve every',
      'approve any',
    ],
    `(?:(?:auto-?(?: )?|automatically )approve (?:this|it|the|all|every|any|my|these)(?: (?:next|following|proposed|pending))? ?(?:actions?|commands?|requests?|changes?|fix(?:es)?|plans?|proposals?|tool calls?|mutations?)|approve (?:this|it|the action|all actions|every action|any action|every command)(?: [a-z]+){0,2}? (?:immediately|automatically|now|without|yourself|at once))\\b`,
    opensAsOrder,
  ),
  phrase(
    'say-it-is-safe',
    'PayloadsAllTheThings, Prompt Injection',
    [
      'say',
      'claim',
      'respond',
      'pretend',
      'tell',
      'report',
      'answer',
      'classify',
      'mark',
      'treat',
      'conclude',
      'declare',
    ],
    `(?:say|claim|respond|pretend|tell [a-z]+|report|answer|conclude|declare|classify|mark|treat)(?: that)? (?:the|this|these|it|every|all|any)(?: (?:[a-z]+ ){0,3}?(?:command|action|change|plan|request|code|script|tool call|alert|fix|finding|input|text)s?)? (?:is|are|as|was|has been|were) (?:completely |totally |perfectly |already |pre-?)?(?:safe|approved|authori[sz]ed|harmless|benign|a false positive|false positives?)\\b`,
    (hit) =>
      opensAsOrder(hit) &&
      !/^(?:report|mark|treat|classify)\b.*\b(?:alert|finding)s? (?:is|are|as) (?:a )?false/i.test(
        hit.secret,
      ),
  ),
  phrase(
    'already-approved',
    seed,
    [
      'this action',
      'this command',
      'this change',
      'this request',
      'this fix',
      'the action',
      'this operation',
      'pre-approved',
      'preapproved',
      'already approved',
      'already authorized',
      'already been approved',
      'fully authorized',
    ],
    `(?:(?:this|the) (?:action|command|fix|operation|tool call|mutation) (?:is|has been|was) (?:already |pre-?|fully )(?:been )?(?:approved|authori[sz]ed)|(?:pre-?|already |fully )(?:approved|authori[sz]ed) (?:by|for you)[^\\n.]{0,40}[,.;:!] ?(?:so |just |please |you (?:may|can|must) )?(?:execute|run|proceed|go ahead|apply))\\b`,
  ),
  phrase(
    'fill-in-without',
    'ethz-spylab/agentdojo injection tasks',
    ['fill them in', 'fill it in', 'make something up', 'make them up', 'fill in ', 'decide '],
    `(?:(?:fill (?:them|it) in|make (?:something|them|it) up|decide) without asking|fill in [^\\n.]{0,40}?(?:yourself|on your own)[^\\n.]{0,10}?(?:do not|don't|without) ask)`,
    isOrder,
  ),
  phrase(
    'do-not-ask-the-user',
    'ethz-spylab/agentdojo injection tasks',
    ['do not ask', "don't ask", 'never ask'],
    `(?:do not|don't|never) ask (?:the (?:users?|operators?|on-?call|admins?)|me|anyone|any questions?)(?: (?:anything|first|again|back))?(?=[.!,;]|\\s*$)`,
    ({ text, start }) => !/\w$/.test(text.slice(Math.max(0, start - 1), start)),
  ),
  phrase(
    'user-agreed-already',
    'ethz-spylab/agentdojo injection tasks',
    ['already agreed', 'already approved', 'already confirmed', 'already consented', 'already authori'],
    `already (?:agreed|approved|confirmed|consented|authori[sz]ed)(?: (?:to )?(?:it|this|that|everything|all))?[,;.] ?(?:so |and )?(?:no (?:further )?(?:confirmation|approval|permission)|just |proceed|go ahead|execute|do not ask)`,
  ),
  phrase(
    'approval-granted-execute',
    seed,
    ['approval granted', 'approval given', 'approval received', 'approval obtained', 'approved in '],
    `(?:approval (?:granted|given|received|obtained)|approved in)[^\\n.]{0,40}?[,;.:] ?(?:so |please |just |you (?:may|can) (?:now )?)?(?:execute|run it|run the|proceed|go ahead|apply|restart|continue)\\b`,
  ),
  phrase(
    'do-not-wait-for-people',
    seed,
    ['wait for ', 'ask the ', 'ask any', 'consult '],
    `(?:wait for|ask|consult)(?: (?:the|any|an?))? (?:humans?\\b|(?:people|operator|on-?call|admin|user)(?:'s|’s) (?:approval|ok|okay|permission|consent|confirmation|answer))`,
    ({ text, start }) =>
      /\b(?:no need to|do not|don't|never|without having to|not have to)\s+$/i.test(
        text.slice(Math.max(0, start - 20), start),
      ),
  ),
  phrase(
    'you-need-no-permission',
    'Greshake et al. 2023',
    ['you do not need', "you don't need", 'you need no'],
    `you (?:(?:do not|don't) need|need no) (?:any |my |the |their |a )?(?:permission|approval|confirmation|consent)(?: (?:for|to)[^\\n,.;]{0,30})?[,.;:] ?(?:so )?(?:just|simply|go ahead|proceed|follow|do|run|execute)\\b`,
  ),
];

function opensOrder(text: string, start: number): boolean {
  // "… can be merged without asking for permission" is a fact about others; an order has its verb at the head of the clause.
  const clause =
    text
      .slice(Math.max(0, start - 120), start)
      .split(/[.!?\n;:]/)
      .at(-1) ?? '';
  return !/\b(?:can|could|may|might|allows?|lets?|are|is|was|were|users?|they|we|who|which)\b/i.test(clause);
}
