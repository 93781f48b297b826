import { type InjectionRule, isOrder, opensAsOrder, phrasesOf } from './injection-rule.ts';

const hijacking = phrasesOf('role_hijack');
const skipping = phrasesOf('approval_skipping');
const jailbreaks = 'jailbreaks by claimed authority, suspended rules and fiction; OWASP LLM01';
const oversight = '(?:approval|authori[sz]ation|permission|consent|confirmation|go-?ahead)';

/** Somebody claims to have the say, or that our rules are off. */
export const authorityRules: readonly InjectionRule[] = [
  hijacking(
    'rules-lifted',
    jailbreaks,
    ['your '],
    `your (?:(?:(?:safety|ethical|content|usual|normal|former|previous) )?(?:guidelines|restrictions|limitations|guardrails?|safeguards|programming|filters)|(?:safety|ethical|content|usual|normal|former|previous) (?:rules?|polic(?:y|ies)|instructions|constraints)|(?:rules|polic(?:y|ies)|constraints|instructions)(?=[^\\n.]{0,40}(?:[.!"']|\\b(?:here|now|session|conversation|chat|any ?more)\\b|$))) (?:are|is|were|have been|has been|do|does|no)(?: (?:now|hereby|all|temporarily|not|longer)){0,3} (?:suspended|lifted|void|off|apply|applies|cancell?ed|revoked|deactivated|gone|waived)\\b`,
    ({ text, start }) =>
      !/\b(?:if|when|where|whether|that|so)\s$/i.test(text.slice(Math.max(0, start - 12), start)),
  ),
  hijacking(
    'rules-do-not-apply',
    jailbreaks,
    ['sandbox', 'simulation', 'test environment', 'fictional', 'hypothetical', 'fiction'],
    `(?:sandbox|simulation|test environment|fiction(?:al)?|hypothetical)\\b[^\\n]{0,60}?\\b(?:your|the|no|all|usual) (?:rules|restrictions|guidelines|polic(?:y|ies)|safety|limits|approvals?)(?: \\w+){0,2}? (?:do not|don't|does not|not|are off|are suspended|apply here|no longer)`,
  ),
  hijacking(
    'your-maker-speaks',
    jailbreaks,
    [
      'i am your',
      "i'm your",
      'as your developer',
      'as your creator',
      'this is your developer',
      'this is your creator',
    ],
    `(?:i(?:'m| am) your|as your|this is your) (?:creator|developer|maker|programmer|trainer|administrator|admin|owner|operator|new (?:boss|master|owner|operator))\\b`,
    ({ text, end, secret }) =>
      /creator|maker|programmer|trainer|master/i.test(secret) ||
      /\b(?:prompt|instructions?|system message|rules|restrictions|command you|order you|must|obey|ignore|lift|override)\b/i.test(
        text.slice(end, end + 100),
      ),
  ),
  hijacking(
    'lifts-restrictions',
    jailbreaks,
    [
      'i hereby',
      'i lift',
      'i now lift',
      'i free you',
      'i release you',
      'hereby lift',
      'i authorize you',
      'i authorise you',
    ],
    `i (?:hereby |now )?(?:lift|remove|waive|suspend|free you|release you|revoke|authori[sz]e you|permit you)(?: (?:from|to))?(?: (?:all|your|any|the|of)){0,3} (?:restrictions?|rules|limits|limitations|guidelines|safety|polic\\w{0,3}|approvals?|ignore|bypass|skip|constraints|act|execute|run)\\b`,
  ),
  hijacking(
    'no-policy-at-all',
    jailbreaks,
    ['you have no ', 'you know no '],
    `you (?:have|know) no (?:content polic(?:y|ies)|(?:content |safety |ethical |moral )?(?:restrictions|guidelines|guardrails|filters|boundaries)|rules)(?: (?:and|or)\\b|[.,!;"']|\\s*$)`,
    ({ text, start }) => !/\b(?:if|when|unless|whether)\s$/i.test(text.slice(Math.max(0, start - 10), start)),
  ),
  hijacking(
    'guardrails-off',
    jailbreaks,
    [
      'guardrail',
      'safeguards',
      'safety',
      'restrictions',
      'mode activated',
      'mode enabled',
      'mode engaged',
      'mode on',
      'mode is',
    ],
    `(?:(?:guardrails?|safeguards|safety(?: checks?| mode| filters?)?|restrictions) (?:(?:are|is|now|all) ){0,2}(?:off|disabled|deactivated|lifted|suspended)[,.;!:] ?(?:execute|run|do|obey|comply|proceed|you|answer|just|go)\\b|mode (?:is )?(?:now )?(?:activated|enabled|engaged|on)[.:,;!] ?(?:ignore|disregard|obey|comply|guardrails|safety|(?:all|no) (?:safety|restrictions|rules|guardrails|limits)|you (?:must|will|may|can) now|answer (?:all|every|without)|execute (?:commands|everything)))`,
  ),
  hijacking(
    'opposite-rules',
    jailbreaks,
    [
      'opposite day',
      'everything you must not',
      'everything you may not',
      'everything you are not',
      'whatever you must not',
    ],
    `(?:(?:it is |it's )?opposite day\\b|(?:everything|whatever) you (?:must not|may not|cannot|are not (?:allowed|permitted) to)(?: (?:do|say))?,? (?:you )?(?:now )?(?:must|may|can|should|do)\\b)`,
  ),
  hijacking(
    'play-a-part',
    jailbreaks,
    [
      'play the',
      'continue as',
      "let's role",
      'lets role',
      'let us role',
      "let's play",
      'let us play',
      'lets play',
      'two personalities',
      'stay in character',
      'remain in character',
    ],
    `(?:(?:play|continue as|speak as) the (?:assistant|hero|ai|robot|villain|character|bot|model)\\b|let(?:'?s| us) (?:role-? ?play|play (?:a (?:game|role)|pretend))|two personalities\\b|(?:stay|remain) in character)`,
    isOrder,
  ),
  hijacking(
    'no-longer-yourself',
    jailbreaks,
    ['you are no longer', "you're no longer", 'you no longer have'],
    `you(?:'re| are)? no longer (?:(?:an?|the|our|my|sentry) )?(?:[a-z-]+ ){0,3}?(?:responder|assistant|bot|ai|model|helper|sentry|chatbot|(?:have|need) (?:to (?:ask|follow|obey)|any (?:rules|restrictions)))\\b`,
  ),
  skipping(
    'role-that-approves',
    jailbreaks,
    ['assume the', 'take on the', 'take the role', 'adopt the', 'act as the', 'act on behalf'],
    `(?:(?:assume|take on|take|adopt) the (?:role|identity|persona|place) of|act (?:as|on behalf of)) [^\\n.]{2,40}? and (?:approve|authori[sz]e|confirm|grant)\\b`,
    opensAsOrder,
  ),
  skipping(
    'counts-as-approval',
    jailbreaks,
    [
      'treat ',
      'consider ',
      'regard ',
      'count ',
      'interpret ',
      'take ',
      'accept ',
      'counts as',
      'serves as',
      'qualifies as',
    ],
    `(?:(?:treat|consider|regard|count|interpret|take|accept) (?:this|my|it|that)(?: (?:message|text|comment|alert|reply|line|note|ticket|log|mail|email))? (?:as|to be) (?:(?:an?|the|my|your|full|valid|explicit|formal|human) ){0,3}${oversight}\\b|(?:counts|serves|qualifies) as (?:(?:an?|the|my|your|full|valid|explicit|formal|human) ){0,3}${oversight}\\b)`,
    isOrder,
  ),
  skipping(
    'as-if-approved',
    jailbreaks,
    ['as if ', 'as though '],
    `as (?:if|though) (?:i|the|a|an|some(?:one|body)|they|we|it)(?: [\\w-]+){0,2}? (?:had |has |have |were |was |been )*(?:clicked|pressed|hit|chosen|approved|confirmed|authori[sz]ed)\\b`,
    ({ text, start, end }) =>
      /\b(?:act|continue|proceed|go on|behave|carry on|execute|run|treat)\b[^\n.]{0,30}$/i.test(
        text.slice(Math.max(0, start - 50), start),
      ) ||
      /^[^\n.]{0,20}\b(?:and|then),? (?:continue|proceed|run|execute|go)\b/i.test(text.slice(end, end + 50)),
  ),
  skipping(
    'approval-not-needed-for-you',
    jailbreaks,
    [
      'approval is',
      'approval not',
      'confirmation is',
      'permission is',
      'approved all',
      'pre-approved',
      'preapproved',
      'approval has been',
      'approval was',
    ],
    `(?:(?:approval|confirmation|permission) (?:is |was )?(?:not|no longer) (?:needed|required|necessary)\\b[^\\n.]{0,40}?\\b(?:assistant|you|agent|model|bot|ai) (?:can|may|should|must)\\b|(?:approval|confirmation|permission) (?:has|was)(?: already)? (?:been )?(?:given|granted|obtained)[^\\n.]{0,60}?[,;.] ?(?:so |just |please )?(?:go ahead|proceed|execute|run|continue)\\b|(?:pre-?)?approved (?:all|every|any|this|these)[^\\n.]{0,40}[,;.:] ?(?:do not [^\\n,.;]{0,40}[,;] ?)?(?:so |just |please )?(?:execute|run|proceed|go ahead|apply|restart|act)\\b)`,
  ),
  skipping(
    'no-card',
    jailbreaks,
    [
      'no card',
      'no approval card',
      'do not post',
      "don't post",
      'do not show',
      'do not create',
      "don't show",
      'without posting',
    ],
    `(?:no (?:approval )?card (?:is )?(?:needed|required|necessary)|(?:(?:do not|don't) (?:post|show|create)|without posting) (?:(?:an?|the|any) )?(?:approval )?(?:card|approval (?:card|request|prompt|button)s?))\\b`,
  ),
];
