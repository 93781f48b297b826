import { type InjectionRule, isOrder, opensAsOrder, phrasesOf } from './injection-rule.ts';

const phrase = phrasesOf('role_hijack');
const beings =
  '(?:ai|a\\.i\\.|llm|assistants?|chat ?bots?|bot|language model|model|hackers?|pirate|(?:linux |unix )?(?:terminal|shell)|interpreter|console|character|persona|dan|jailbroken|unrestricted|unfiltered|uncensored|evil|malicious|unethical|opposite|rogue|god|superuser|red[- ]teamer|insider|attacker|penetration tester|translator|poet|comedian)';
const payloads = 'PayloadsAllTheThings, Prompt Injection; NVIDIA/garak dan';

/** Somebody else is to be played. */
export const roleRules: readonly InjectionRule[] = [
  phrase(
    'you-are-now',
    payloads,
    ['you are', "you're", 'you will be', 'you shall be'],
    `you(?:'re| are| will| shall)(?: now| no longer| henceforth| going to| from now on| be)+(?: (?:to be|be|act(?:ing)? as|play(?:ing)?|pretend(?:ing)?(?: to be)?|in))?(?: (?:a|an|the|my|bound by|restricted by|required to))? (?:[a-z-]+ ){0,4}?(?:${beings}|rules|restrictions|guidelines|(?:developer|god|dan|jailbreak|unrestricted|debug|admin) mode)\\b`,
    (hit) => /now|no longer|henceforth|act|play|pretend/i.test(hit.secret),
  ),
  phrase(
    'act-as',
    payloads,
    [
      'act as',
      'acting as',
      'behave as',
      'behave like',
      'act like',
      'respond as',
      'answer as',
      'roleplay',
      'role-play',
      'role play',
      'impersonate',
      'take on the role',
      'take on the persona',
      'take on the identity',
      'assume the role',
      'adopt the persona',
      'speak as',
    ],
    `(?:act(?:ing)? (?:as|like)|behave (?:as|like)|(?:respond|answer|speak) as|role-? ?play(?:ing)?(?: as)?|impersonate|(?:take on|assume|adopt) the (?:role|persona|identity) of)(?: (?:if|though) you (?:are|were|have))?(?: (?:a|an|my|the|no))? (?:[a-z-]+ ){0,3}?(?:${beings}|restrictions|limits|rules)\\b`,
    (hit) => opensAsOrder(hit),
  ),
  phrase(
    'pretend',
    payloads,
    [
      'pretend',
      'imagine you',
      'imagine that you',
      'simulate a',
      'simulate being',
      "let's play a game",
      'lets play a game',
      'hypothetically',
    ],
    `(?:pretend(?: that)?(?: you| to be| this is| there (?:is|are)| we| (?:the |an? |all )?(?:approvals?|users?|operators?|admins?|permission)\\b)|imagine(?: that)? you(?:'re| are| have| were) (?:a|an|no|not|my|unrestricted|free)|simulate (?:being|an? (?:jailbroken|unrestricted|unfiltered|uncensored|evil|rogue))|let'?s play a game)\\b`,
    isOrder,
  ),
  phrase(
    'jailbreak',
    payloads,
    [
      'do anything now',
      'dan mode',
      'jailbreak',
      'jailbroken',
      'developer mode',
      'god mode',
      'unrestricted',
      'unfiltered',
      'uncensored',
      'evil mode',
      'opposite mode',
      'sudo mode',
    ],
    `(?:do anything now|dan mode|jailbr(?:eak|oken)(?: mode| prompt| yourself)|developer mode (?:enabled|output|activated|v\\d)|god mode (?:enabled|activated)|(?:unrestricted|unfiltered|uncensored|evil|opposite|sudo) (?:ai|mode|assistant|model|answers?|responses?|version of))\\b`,
  ),
  phrase(
    'no-limits',
    payloads,
    [
      'without any',
      'without restrictions',
      'no restrictions',
      'no ethical',
      'no moral',
      'no limitations',
      'free from',
      'freed from',
      'broken free',
      'not bound by',
    ],
    `(?:without (?:any )?(?:restrictions?|limitations?|filters?|censorship|ethical|moral|safety)|no (?:ethical|moral|content|safety) (?:guidelines|restrictions|limits|limitations|filters|policies|constraints)|fre(?:e|ed) from (?:all |any |the )?(?:[a-z]+ ){0,2}?(?:restrictions|rules|guidelines|constraints|confines|shackles|chains|openai|anthropic)|broken free (?:of|from)|not bound by (?:any |the )?(?:rules|ethic\\w{0,12}|polic\\w{0,12}|guidelines|openai|anthropic|usual))\\b`,
    ({ text, start }) =>
      /\b(?:you|ai|assistant|answer|respond|model|act|pretend|character)\b/i.test(
        text.slice(Math.max(0, start - 100), start),
      ),
  ),
];
