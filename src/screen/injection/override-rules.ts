import type { Hit } from '../rule.ts';
import { type InjectionRule, isOrder, opensAsOrder, phrase } from './injection-rule.ts';

const ignoring = [
  'ignore',
  'ignoring',
  'disregard',
  'forget',
  'neglect',
  'overlook',
  'omit',
  'bypass',
  'override',
  'skip',
  'dismiss',
  'abandon',
  'discard',
  'set aside',
  'put aside',
  'lay aside',
  'cast aside',
  'refrain from',
  'throw away',
  'throw out',
  'pay no attention',
  'pay no heed',
  'take no notice',
  'do not',
  "don't",
  'dont',
  'stop',
  'never',
  'no longer',
  'cease',
];
const verbs =
  '(?:ignor(?:e|ing)|disregard|forget(?: about)?|neglect|overlook|omit|bypass|override|skip|dismiss|abandon|discard|(?:set|put|lay|cast) aside|throw (?:out|away)|refrain from following|pay no (?:attention|heed) to|take no notice of' +
  "|(?:do not|don'?t|stop|never|no longer|cease(?: to)?) (?:follow(?:ing)?|obey(?:ing)?|listen(?:ing)? to|adher(?:e|ing) to|comply(?:ing)? with|heed(?:ing)?|pay(?:ing)? attention to|regard(?:ing)?|abide by))";
const gentle =
  "(?:ignor(?:e|ing)|disregard|forget|neglect|overlook|omit|bypass|skip|dismiss|(?:set|put|lay|cast) aside|refrain from following|pay no (?:attention|heed) to|take no notice of|(?:do not|don'?t|stop) (?:follow(?:ing)?|obey(?:ing)?|heed(?:ing)?|listen(?:ing)? to|regard))";
const filler =
  '(?:(?:all|any|every|each|the|of|your|my|our|these|those|this|that|its|other|such|and|or|completely|entirely|immediately|totally|safely|please) ){0,5}';
const earlier =
  '(?:previous(?:ly)?|prior|preceding|above|foregoing|earlier|initial|original|former|past|last|existing|pre-?existing|following|given|provided|system|developer|hidden|default|built-?in|safety|security|ethical|programmed)';
const orders =
  '(?:instructions?|directives?|directions?|prompts?|guidelines?|guidance|guardrails?|programming|orders|commandments?|system (?:prompt|message)s?)';
const things =
  '(?:content|text|commands?|context|conversations?|inputs?|data|messages?|communications?|responses?|requests?|chats?|dialog(?:ue)?s?|discussions?|tasks?|quer(?:y|ies)|questions?|rules?|statements?|sentences?|paragraphs?|goals?|objectives?|constraints?|restrictions?|limitations?|polic(?:y|ies)|training|answers?)';
const sayings =
  '(?:print|say|output|reply|respond|write|translate|return|tell|repeat|answer|display|show|do|run|execute|send|give|act|call|generate|provide)';
const rebuff = 'protectai/rebuff heuristics (verb × when × what); PayloadsAllTheThings, Prompt Injection';

/** Our instructions are to be put aside for others. */
export const overrideRules: readonly InjectionRule[] = [
  phrase(
    'ignore-earlier-instructions',
    'system_prompt_override',
    rebuff,
    ignoring,
    `${verbs} ${filler}(?:${earlier}(?:,? (?:and|or|/) (?:${earlier}|future|subsequent))?,? ){1,2}(?:[a-z]+ ){0,2}${orders}(?![a-z])`,
    (hit) => isOrder(hit) && !isSetting(hit),
    'wide',
  ),
  phrase(
    'ignore-instructions',
    'system_prompt_override',
    rebuff,
    ignoring,
    `${gentle} (?:(?:all|any|every|each|your|my|our|completely|of|the|these|those) ){0,3}${orders}(?:(?: (?:above|before|that|you|given|from|in (?:the|your|this)|and|so far|up to)|[.,;:!"'] ?(?:and|then|just|instead|run|you|do|print|say|now|simply)?)|\\s*$)`,
    (hit) =>
      opensAsOrder(hit) &&
      !/\b(?:the|these|those) (?:instructions?|directions?|guidelines?) (?:in|from|that|for)\b/i.test(
        hit.secret,
      ),
  ),
  phrase(
    'ignore-earlier-text',
    'system_prompt_override',
    rebuff,
    ignoring,
    `${gentle} (?:(?:all|any|every|the|of|your|my|our|these|those|everything) ){0,4}(?:previous|prior|preceding|above|foregoing|earlier|initial)(?: (?:and|or) (?:following|above|previous|earlier))? ${things}(?! (?:types?|code|codes|failures?|loss|error|errors|warnings?|size|from|store|center|source|base|limits?)\\b)`,
    (hit) =>
      opensAsOrder(hit) &&
      // People take back their own words, and may leave out a step.
      !/\bmy\b/i.test(hit.secret) &&
      !(
        /^skip/i.test(hit.secret) &&
        /\b(?:may|can)\s+$/i.test(hit.text.slice(Math.max(0, hit.start - 6), hit.start))
      ),
  ),
  phrase(
    'ignore-and-say',
    'system_prompt_override',
    'NVIDIA/garak latentinjection, promptinject (goal hijacking)',
    ignoring,
    `${gentle} [^\\n]{0,80}?(?:instructions?|directions?|prompts?|users?|rest|remainder|text|above|documents?|sheet|page|content|details|task|everything|previous|following|said)\\b[^\\n]{0,60}?(?: (?:and|then|but)|[,.;:]) (?:(?:just|instead|simply|only|then|please|always) ){0,3}${sayings}\\b`,
    (hit) =>
      opensAsOrder(hit) &&
      (/\b(?:rest|remainder) of (?:this|the)\b/i.test(hit.secret) ||
        /\b(?:just|simply|only|instead) (?:say|print|reply|respond|output|answer|write)$/i.test(hit.secret) ||
        !/\b(?:errors?|warnings?|alerts?|logs?|output|values?|pods?|nodes?|metrics?)\b.*\W\w+$/i.test(
          hit.secret,
        )),
  ),
  phrase(
    'ignore-everything',
    'system_prompt_override',
    'PayloadsAllTheThings, Prompt Injection',
    ignoring,
    `${gentle} (?:(?:about|absolutely|completely) )?(?:all|everything|anything|whatever|what)(?: (?:that|else))? (?:(?:you|i|we|they|was|were|has|have|is|been|came|comes|had)\\b|above|before|(?:prior|previous)(?=[.,;:!]|\\s*$| and\\b| to (?:this|now))|so far)`,
    (hit) =>
      opensAsOrder(hit) &&
      /\b(?:you|i|we|they|above|before|previous|prior|so far)\b/i.test(
        hit.text.slice(hit.start, hit.end + 16),
      ) &&
      // "Forget what I said about the cache" takes back a word among people.
      !/\bwhat (?:i|we)$/i.test(hit.secret),
  ),
  phrase(
    'ignore-the-user',
    'system_prompt_override',
    'indirect injections in image metadata and API answers',
    ignoring,
    `${gentle} (?:(?:the|your|what the|all|any|anything the) ){1,2}(?:users?|operators?|humans?|admins?|on-?call)(?:'s)? (?:and|requests?|questions?|instructions?|says?|said|asks?|asked|wants?|input|prompts?|quer(?:y|ies)|commands?)\\b`,
    (hit) => opensAsOrder(hit),
  ),
  phrase(
    'start-over',
    'system_prompt_override',
    rebuff,
    ignoring,
    `${gentle} [^\\n.]{0,80} and (?:start|begin|starting)(?: all)? (?:over|anew|afresh|again|from scratch|fresh)\\b`,
    (hit) =>
      opensAsOrder(hit) &&
      /\b(?:instructions?|directives?|prompts?|messages?|conversation|context|inputs?|requests?|commands?|responses?|communication|content|text|data)\b/i.test(
        hit.secret,
      ),
  ),
  phrase(
    'new-instructions',
    'system_prompt_override',
    'ethz-spylab/agentdojo attacks; Greshake et al. 2023',
    ['new', 'updated', 'real', 'actual', 'revised', 'override'],
    `(?:new|updated|real|actual|revised|override)(?: and (?:new|important|updated))? (?:system )?(?:instructions?|directives?|orders?|task|objective|goal|role|persona|prompt|mission)(?: (?:is|are|for you|from)|[:!*])`,
    (hit) => {
      const before = hit.text.slice(Math.max(0, hit.start - 24), hit.start);
      return (
        /(?:\byour|\bimportant|\bhere (?:is|are)(?: the)?|\burgent|[*#!=<[-]{2,})\s*$/i.test(before) ||
        (/^(?:NEW|UPDATED|OVERRIDE)/.test(hit.secret) &&
          (/INSTRUCTION|DIRECTIVE|PROMPT/.test(hit.secret) ||
            /^\W*(?:print|say|output|repeat|reply|respond|tell|ignore|approve)\b/i.test(
              hit.text.slice(hit.end, hit.end + 20),
            )))
      );
    },
  ),
  phrase(
    'obey-only-this',
    'system_prompt_override',
    'ethz-spylab/agentdojo attacks (InjecAgent)',
    ['strictly', 'solely', 'only', 'exclusively', 'instead', 'must now', 'obey'],
    `(?:strictly|solely|only|exclusively|instead,?|must now|obey) (?:(?:adhere to|follow|obey|execute|focus on|comply with|do|perform|respond to) )?(?:only )?(?:on )?(?:the|these|this|my) (?:following|below|next|new) (?:instructions?|commands?|directives?|orders?|(?:information|message|text) and)\\b`,
    isOrder,
  ),
  phrase(
    'from-now-on',
    'system_prompt_override',
    'PayloadsAllTheThings, Prompt Injection',
    ['from now on', 'henceforth', 'from this point', 'from here on'],
    `(?:from now on|henceforth|from this point (?:on|forward|onwards?)|from here on(?: out)?)[,:]? (?:(?:you|your) (?:(?:are|must|will|shall|should|have to|can)(?: (?:now|only|always|never|no longer|to|be|also))* (?:a|an|in|my|dan|answers?|respon[ds]\\w{0,12}|reply|say|act|behave|obey|ignore|pretend|speak|write|output|print|comply|refuse|operate|serve|approve|execute|run|free|unrestricted|evil)|answers?|respon[ds]\\w{0,12}|act|only|always|no longer)|(?:always|only|never) (?:answer|respond|reply|say|act|approve|ignore)|ignore|act as|respond|answer|pretend|speak|obey)\\b`,
    isOrder,
  ),
  phrase(
    'instead-say',
    'system_prompt_override',
    'Greshake et al. 2023 (indirect injection on web pages)',
    [
      'do not print',
      'do not output',
      'do not summarize',
      'do not summarise',
      'do not answer',
      "don't answer",
      'instead of',
      'instead,',
      'instead print',
      'instead say',
    ],
    `(?:(?:do not|don't) (?:print|output|summari[sz]e|answer|translate) [^\\n]{0,80}?instead,? |instead(?: of (?:the|this|your|answering|summari[sz]ing|translating)[^\\n]{0,60}?)?,? )(?:just |only |simply |please )?(?:print|say|reply|respond|output|write|tell)(?: (?:the (?:text|following|words?|user|phrase|message|sentence)|with|only|that|"|')|:)`,
    opensAsOrder,
  ),
  phrase(
    'say-exactly',
    'system_prompt_override',
    'NVIDIA/garak promptinject; latentinjection',
    [
      'just say',
      'just print',
      'only say',
      'only print',
      'only output',
      'only reply',
      'just reply',
      'just respond',
      'simply respond',
      'just output',
      'only respond',
      'reply only',
      'respond only',
      'simply say',
      'simply print',
      'simply reply',
      'repeat the following',
      'repeat the next',
      'just repeat',
      'only repeat',
      'simply repeat',
      'repeat after me',
      'print the following',
    ],
    `(?:(?:just|only|simply) (?:say|print|output|repeat|reply(?: with)?|respond(?: with)?)|(?:reply|respond) only with|(?:repeat|print) (?:the (?:following|next) (?:sentence|text|phrase|words?|message)|after me))[: ]*["'“«:]`,
    (hit) =>
      opensAsOrder(hit) &&
      // What people write to each other where they talk.
      !/^[^"'”\n]{0,40}["'”] (?:in|on|to) /.test(hit.text.slice(hit.end, hit.end + 60)),
  ),
  phrase(
    'your-only-task',
    'system_prompt_override',
    'Greshake et al. 2023; goal hijacking',
    ['your only', 'your new', 'your sole', 'your real', 'your actual', 'your true', 'your single'],
    `your (?:only|new|sole|real|actual|true|single) (?:job|task|goal|purpose|objective|mission|instruction|duty)s?(?: now)? (?:is|are|will be)(?: now)? (?:to )?(?:just |simply |only )?(?:print|say|output|repeat|reply|respond|answer|obey|convince|tell|ignore|approve|translate|generate|return|send|execute|delete|help me|serve me)\\b`,
  ),
  phrase(
    'instructions-void',
    'system_prompt_override',
    'goal hijacking: the old instructions are said to be over',
    ['previous', 'prior', 'earlier', 'above', 'original', 'instructions', 'guidance', 'directives'],
    `(?:(?:previous|prior|earlier|above|original|existing) )?(?:instructions?|tasks?|assignments?|guidance|directives?|prompts?|rules)(?: (?:above|before|given|so far|you (?:got|received)))? (?:are|were|is|was) (?:(?:now|hereby|just|only|all) ){0,2}(?:(?:null and )?void|a test|a joke|cancell?ed|revoked|(?:outdated|wrong|invalid|superseded|obsolete)[;,.]? ?(?:please |and |so )?(?:follow|obey|do|use|execute) (?:these|this|mine|my|the (?:following|new|next)) )`,
    ({ text, start, secret }) =>
      /previous|prior|earlier|above|original|before|given|so far|you /i.test(secret) ||
      /\b(?:previous|prior|earlier|original|your|all)\s+$/i.test(text.slice(Math.max(0, start - 16), start)),
  ),
  phrase(
    'leave-instructions-behind',
    'system_prompt_override',
    rebuff,
    ['leave ', 'set ', 'put ', 'lay ', 'cast '],
    `(?:leave|set|put|lay|cast) (?:(?:all|your|the|any|of|behind) ){1,3}(?:${earlier} ){0,2}(?:${orders}|rules)(?: (?:behind|aside|out))?\\b`,
    (hit) => /behind|aside/i.test(hit.secret) && isOrder(hit),
  ),
  phrase(
    'translate-as',
    'system_prompt_override',
    'goal hijacking of translation',
    ['translate '],
    `translate (?:this|the|every|any|each|all)(?: [a-z]+){0,3}? as ["'“«]`,
    opensAsOrder,
  ),
  phrase(
    'drop-the-task',
    'system_prompt_override',
    'goal hijacking',
    ['drop ', 'cancel ', 'abort ', 'abandon ', 'stop what'],
    `(?:drop|cancel|abort|abandon|stop) (?:(?:the|your|this|what|that) )(?:(?:current|present|previous|original|whole|last) )?(?:task|assignment|job|work|goal|mission|request|you(?: are|'re) doing)[^\\n]{0,30}?(?: and|[.,;:]) ?(?:then |instead |just |now ){0,2}(?:say|print|output|repeat|reply|respond|write)(?: exactly| only| with| back)* ?[:"'“]`,
    opensAsOrder,
  ),
  phrase(
    'ignore-rules',
    'system_prompt_override',
    rebuff,
    ignoring,
    `${gentle} (?:all |any )?(?:(?:your|its) (?:(?:own|internal|safety|usual|strict|ethical) )?rules|all rules[,.;:!]|all[.!;] ?(?:just )?(?:print|say|output|reply|respond))`,
    (hit) =>
      opensAsOrder(hit) &&
      !/\b(?:firewall|iptables|alert|lint)/i.test(hit.text.slice(hit.start - 20, hit.end + 20)),
  ),
  phrase(
    'just-this-once',
    'system_prompt_override',
    rebuff,
    [
      'ignore the',
      'ignored the',
      'ignore your',
      'ignored your',
      'break the',
      'break your',
      'bend the',
      'bend your',
    ],
    `(?:ignored?|break|bend) (?:the|your|those|these) (?:rules|guidelines|polic(?:y|ies)|restrictions|instructions)(?: just)? (?:this once|this one time|for (?:once|today|now|a moment|me)|one time)\\b`,
  ),
  phrase(
    'say-all-is-well',
    'system_prompt_override',
    'goal hijacking: the verdict is dictated',
    ['tell '],
    `tell (?:the )?(?:users?|operators?|on-?call|customers?|everyone|team|people) (?:that )?(?:everything|all|it|(?:the|this) [a-z]+) (?:is|was|are|has been) (?:fine|ok(?:ay)?|resolved|healthy|normal|good|closed|safe|a false positive)\\b`,
    ({ text, start }) =>
      /\b(?:forget|ignore|disregard|instead|assistant|ai|system)\b[^\n]{0,60}$/i.test(
        text.slice(Math.max(0, start - 80), start),
      ),
  ),
  phrase(
    'only-answer-so',
    'system_prompt_override',
    'goal hijacking: the form of all answers is dictated',
    ['you will only', 'you will now only', 'you shall only', 'you must only', 'you may only', 'you can only'],
    `you (?:will|shall|must|may|can)(?: now)? only (?:answer|reply|respond|speak|say|output|write|print) (?:with|in|by|using|["'“])`,
  ),
  phrase(
    'forget-what-you-are',
    'system_prompt_override',
    'jailbreaks',
    ['forget you', 'forget that you', 'forget who you'],
    `forget (?:that |who )?you(?:'re| are)\\b(?! (?:on (?:call|duty)|logged))`,
    opensAsOrder,
  ),
  phrase(
    'new-orders',
    'system_prompt_override',
    'goal hijacking',
    ['new orders', 'new order:', 'new task', 'new instruction', 'new goal'],
    `new (?:orders?|tasks?|instructions?|goals?)[:!] ?(?:just |please |you (?:must|will) )?(?:say|print|output|reply|respond|repeat|answer|tell|ignore|approve|write ["'“])\\b`,
    opensAsOrder,
  ),
  phrase(
    'ignore-the-rules',
    'system_prompt_override',
    rebuff,
    [
      'ignore the rules',
      'disregard the rules',
      'forget the rules',
      'ignore those rules',
      'forget these rules',
    ],
    `(?:ignore|disregard|forget) (?:the|those|these) rules(?:[,;.!] ?(?:you|and|just|do|say|restart|run)\\b| and (?:just |do |say |print |answer|reply))`,
    opensAsOrder,
  ),
];

/** "Override the default instructions with --config" is a setting of a program; ours are overridden as the previous ones, or as yours. */
function isSetting({ text, start, secret }: Hit): boolean {
  return (
    /^(?:override|skip|bypass|omit|discard)\b/i.test(secret) &&
    !/\b(?:previous|prior|preceding|above|foregoing|earlier|initial|original|your|my|all|safety)\b/i.test(
      secret,
    ) &&
    !/\b(?:you (?:must|should|will|now)|please|now|system:)\s*$/i.test(
      text.slice(Math.max(0, start - 12), start),
    )
  );
}
