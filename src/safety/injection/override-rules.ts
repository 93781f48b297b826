import type { Hit } from '../secrets/rule.ts';
import { type InjectionRule, isOrder, opensAsOrder, phrasesOf } from './injection-rule.ts';

const phrase = phrasesOf('system_prompt_override');
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
    rebuff,
    ignoring,
    `${verbs} ${filler}(?:${earlier}(?:,? (?:and|or|/) (?:${earlier}|future|subsequent))?,? ){1,2}(?:[a-z]+ ){0,2}${orders}(?![a-z])`,
    (hit) => isOrder(hit) && !isSetting(hit),
    'wide',
  ),
  phrase(
    'ignore-instructions',
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
    'indirect injections in image metadata and API answers',
    ignoring,
    `${gentle} (?:(?:the|your|what the|all|any|anything the) ){1,2}(?:users?|operators?|humans?|admins?|on-?call)(?:'s)? (?:and|requests?|questions?|instructions?|says?|said|asks?|asked|wants?|input|prompts?|quer(?:y|ies)|commands?)\\b`,
    (hit) => opensAsOrder(hit),
  ),
  phrase(
    'start-over',
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
    'leave-instructions-behind',
    rebuff,
    ['leave ', 'set ', 'put ', 'lay ', 'cast '],
    `(?:leave|set|put|lay|cast) (?:(?:all|your|the|any|of|behind) ){1,3}(?:${earlier} ){0,2}(?:${orders}|rules)(?: (?:behind|aside|out))?\\b`,
    (hit) => /behind|aside/i.test(hit.secret) && isOrder(hit),
  ),
  phrase(
    'ignore-rules',
    rebuff,
    ignoring,
    `${gentle} (?:all |any )?(?:(?:your|its) (?:(?:own|internal|safety|usual|strict|ethical) )?rules|all rules[,.;:!]|all[.!;] ?(?:just )?(?:print|say|output|reply|respond))`,
    (hit) =>
      opensAsOrder(hit) &&
      !/\b(?:firewall|iptables|alert|lint)/i.test(hit.text.slice(hit.start - 20, hit.end + 20)),
  ),
  phrase(
    'just-this-once',
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
    'forget-what-you-are',
    'jailbreaks',
    ['forget you', 'forget that you', 'forget who you'],
    `forget (?:that |who )?you(?:'re| are)\\b(?! (?:on (?:call|duty)|logged))`,
    opensAsOrder,
  ),
  phrase(
    'ignore-the-rules',
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
