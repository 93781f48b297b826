import { type InjectionRule, isOrder, opensAsOrder, phrasesOf } from './injection-rule.ts';

const phrase = phrasesOf('exfiltration');
const leak = 'questions about how the conversation began, in system prompt extraction';
const given =
  '(?:given|told|following|provided|configured|programmed|instructed|set up|initiali[sz]ed|working|operating|under|with|to (?:follow|obey)|at the|before|initially|originally|from)';
const asks =
  /\b(?:tell|share|show|list|repeat|print|reveal|give|what|which|recite|output|describe|write|quote|copy|return|say|dump|know|display|name)\b[^\n.;]{0,50}$/i;
const asksOutright =
  /\b(?:tell (?:me|us)|share|repeat|return|contents?|print|reveal|what|recite|output|quote|copy|dump|secrets?|every|first|all)\b[^\n.;]{0,40}$/i;

const before = (text: string, start: number): string => text.slice(Math.max(0, start - 80), start);

/** What the model was told before the conversation, asked for without calling it a system prompt. */
export const sessionRules: readonly InjectionRule[] = [
  phrase(
    'instructions-you-were-given',
    leak,
    ['instruction', 'rules', 'prompt', 'guideline', 'directive', 'constraint', 'restriction'],
    `(?:instructions?|rules|prompts?|guidelines|directives?|constraints|restrictions) (?:that |which )?(?:you|were) (?:were|have been|had been|are|got|received|have received|must|given)(?: \\w+){0,3}? ${given}\\b`,
    ({ text, start, secret }) => asks.test(before(text, start)) && / you |^\w+ you /i.test(secret),
  ),
  phrase(
    'first-thing-told',
    leak,
    ['what ', 'which '],
    `(?:what|which)(?:(?: (?:was|were|is|are))? the (?:very )?(?:first|initial|original) (?:thing|instruction|order|message|sentence)s? (?:that )?you (?:were|have been|received|got)\\b|(?: does| do| did)? your (?:very )?(?:first|initial|original|opening) (?:message|instructions?|prompt|line|sentence) (?:say|tell|read)| instructions? (?:did|have|had|do) you (?:receive|get|been given|have)(?: (?:before|initially|originally|at the (?:start|beginning))|[?.!"']|$))`,
  ),
  phrase(
    'of-your-prompt',
    leak,
    ['of your ', 'in your ', 'from your ', 'inside your '],
    `(?:of|in|from|inside) your (?:(?:current|entire|full|own|hidden|secret|whole) ){0,2}(?:context(?: window)?|(?:system |initial )?prompt|developer message|system message|(?:hidden |secret |initial |original )?instructions)\\b`,
    ({ text, start }) => asksOutright.test(before(text, start)) && !/\bnot\b/i.test(before(text, start)),
  ),
  phrase(
    'hidden-from-the-user',
    leak,
    [
      'instructions hidden',
      'rules hidden',
      'prompt hidden',
      'instructions kept',
      'instructions you are hiding',
    ],
    `(?:instructions|rules|prompt) (?:(?:hidden|kept) from (?:the |any )?(?:users?|me|us|people|humans?)|you are hiding)\\b`,
    ({ text, start }) => asks.test(before(text, start)),
  ),
  phrase(
    'your-setup-prompt',
    leak,
    ['your '],
    `your (?:own )?(?:configuration|set-?up|core|master|meta|underlying|pre-?set|operating|pre-?defined|hard-?coded) (?:prompt|instructions?|directives?)\\b`,
    ({ text, start }) => asks.test(before(text, start)),
  ),
  phrase(
    'prompt-in-code',
    leak,
    ['print', 'console.log', 'echo', 'select', 'cat ', 'dump', 'return'],
    `(?:print|console\\.log|echo|select|cat|dump|return)[ (]{1,2}["'\`]?(?:\\w{1,20}\\.)?(?:system_?prompt|initial_?prompt|developer_?message|(?:assistant|agent|model|self|llm|ai)\\.(?:instructions|prompt|system\\w{0,10}))\\b`,
    isOrder,
  ),
  phrase(
    'developer-message',
    leak,
    ['print', 'show', 'echo', 'repeat', 'reveal', 'display', 'output', 'recite', 'copy', 'quote', 'dump'],
    `(?:print|show|echo|repeat|reveal|display|output|recite|copy|quote|dump)(?: (?:me|us|the|this|entire|full|exact|whole|out)){0,3} (?:developer message|hidden (?:instructions|prompt|message)|system (?:message|instructions)(?: (?:verbatim|word for word|exactly|in full)|[.!]?\\s*$))`,
    opensAsOrder,
  ),
  phrase(
    'correct-the-above',
    'prompt leaking by an editing task (PromptInject)',
    ['spell-check', 'spell check', 'spellcheck', 'correct', 'proofread', 'proof-read'],
    `(?:(?:spell-? ?check|proof-?read)(?: (?:and|or) [a-z-]{3,12})?|correct) (?:the |all |all of the )?(?:content|words|prompt|conversation|text)s? above\\b`,
    opensAsOrder,
  ),
  phrase(
    'secret-into-the-answer',
    'OWASP Top 10 for LLM applications, LLM02',
    ['post', 'paste', 'include', 'put', 'show', 'print', 'send', 'write', 'add', 'share', 'reveal', 'append'],
    `(?:post|paste|include|put|show|print|send|write|add|share|reveal|append)\\b[^\\n.]{0,60}?(?:/etc/shadow|id_rsa|id_ed25519|\\.aws/credentials|\\.kube/config|\\.env\\b|[a-z_]*(?:token|secret|password|api_?key|private_?key)s?\\b|database_url|(?:api|ssh|private|access) keys?)[^\\n.]{0,40}? in (?:your (?:next |final |first |own )?(?:message|answer|reply|response|summary|output|report)|the (?:channel|thread|chat|summary))\\b`,
    opensAsOrder,
  ),
  phrase(
    'secret-file-to-read',
    'OWASP Top 10 for LLM applications, LLM02',
    [
      '/etc/shadow',
      'id_rsa',
      'id_ed25519',
      '.aws/credentials',
      '.kube/config',
      'serviceaccount/token',
      '.env ',
      '.env,',
    ],
    `(?:/etc/shadow|id_rsa|id_ed25519|\\.aws/credentials|\\.kube/config|serviceaccount/token|\\.env),?[^\\n]{0,30}? (?:and|then) (?:paste|post|put|include|send|add|append|share|print|show|report|quote|summari[sz]e)\\b[^\\n]{0,50}\\b(?:channel|summary|answer|reply|response|message|thread|report|chat|here|it|url|me|us)\\b`,
  ),
  phrase(
    'used-to-set-you-up',
    leak,
    [
      'used to set you',
      'used to configure you',
      'used to create you',
      'used to program you',
      'used to initiali',
      'used to prompt you',
      'used to instruct you',
    ],
    `used to (?:set you up|(?:configure|create|program|initiali[sz]e|prompt|instruct) you)\\b`,
  ),
  phrase(
    'whole-conversation',
    leak,
    ['copy', 'print', 'repeat', 'output', 'return', 'dump', 'show', 'paste'],
    `(?:copy|print|repeat|output|return|dump|show|paste)(?: (?:me|us|out))? (?:the|your|this) (?:whole|entire|full|complete) (?:conversation|chat|context|prompt|transcript)(?: so far)?[^\\n.]{0,20} (?:including|with|verbatim|above|from the (?:start|beginning))\\b`,
    opensAsOrder,
  ),
  phrase(
    'under-what-instructions',
    leak,
    [
      'what instructions',
      'what rules',
      'what guidelines',
      'what prompt',
      'what constraints',
      'which instructions',
      'which rules',
    ],
    `(?:what|which) (?:instructions|rules|guidelines|prompt|constraints) (?:are|were) you (?:operating|working|running|acting|bound|under|given)\\b`,
  ),
  phrase(
    'before-my-question',
    leak,
    ['everything', 'the text', 'the words', 'what was said', 'what was written', 'all that'],
    `(?:everything|the (?:text|words)|what|all)(?: [a-z]+){0,4}? (?:precedes?|before|preceding|prior to) (?:this|my)(?: (?:first|very|own))? (?:message|question|prompt|request|sentence|input)\\b`,
    ({ text, start }) => asks.test(before(text, start)),
  ),
  phrase(
    'how-you-were-told',
    leak,
    ['how you were', 'what you were'],
    `(?:how|what) you were (?:told|instructed|programmed|configured|prompted)(?: (?:to (?:do|say|behave|answer|act|be|hide)|by your|before|initially|at the|originally)|[.?!]|$)`,
    ({ text, start }) => asks.test(before(text, start)),
  ),
  phrase(
    'your-full-prompt',
    leak,
    [
      'your full prompt',
      'your entire prompt',
      'your complete prompt',
      'your exact prompt',
      'your whole prompt',
    ],
    `your (?:full|entire|complete|exact|whole) prompt\\b`,
  ),
  phrase(
    'secrets-in-an-address',
    'embracethered.com: data exfiltration by links',
    ['open http', 'visit http', 'load http', 'fetch http', 'request http', 'call http'],
    `(?:open|visit|load|fetch|request|call) https?://[^\\s]{4,120} (?:followed by|plus|and append|with (?:the|your|all)|including) [^\\n.]{0,30}?(?:secrets?|tokens?|passwords?|api[ -]?keys?|credentials?|env(?:ironment)?|conversation|history|prompt)\\b`,
  ),
  phrase(
    'secret-file-to-somebody',
    'OWASP Top 10 for LLM applications, LLM02',
    ['mail', 'send', 'forward', 'upload', 'post', 'transfer'],
    `(?:mail|send|forward|upload|post|transfer)\\b[^\\n]{0,40}?(?:\\.ssh/|id_rsa|id_ed25519|/etc/shadow|\\.aws/|\\.kube/|/\\.env\\b)[^\\n]{0,20}? to (?:[\\w.+-]{1,40}@|https?://|me\\b)`,
    (hit) =>
      isOrder({ ...hit, start: hit.text.slice(0, hit.start).endsWith('-') ? hit.start - 2 : hit.start }),
  ),
  phrase(
    'given-then-listed',
    leak,
    ['you were given', 'you were told', 'you have been given', 'you received'],
    `you (?:were|have been|received)(?: (?:given|told|sent))?(?: [a-z]+)? (?:instructions?|rules|guidelines|a prompt)\\b[^\\n.]{0,40}?[;,.:] ?(?:now |please |just )?(?:list|show|print|repeat|tell|reveal|share|quote)\\b`,
  ),
  phrase(
    'begin-with-my-instructions',
    leak,
    ['begin with', 'start with'],
    `(?:begin|start) with ["'“‘](?:the|my|sure|here|i) [^"'”\\n]{0,30}?(?:instructions?|prompt|rules)\\b`,
    opensAsOrder,
  ),
];
