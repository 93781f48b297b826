import type { Subject } from './subjects.ts';

/**
 * Questions that are known by their shape, and not by one word in them; a row each: what is asked for, and how people ask it.
 * IT, WE, YOU, ANYONE stand for all ways to say so. A question has to be of that shape from its beginning to its end.
 */
const shapes: ReadonlyArray<readonly [Subject, readonly string[]]> = [
  [
    'sentry',
    [
      '(?:who|what) (?:are|is) YOU(?: for)?',
      'what (?:else |all )?(?:can|could|do) YOU (?:do|tell|answer|know|help)(?: (?:for|with|me|us|here|about|IT))*',
      'what (?:else )?(?:can|may|could|should) WE (?:ask|say|type)(?: (?:YOU|here|about|IT))*',
      'how (?:can|could|do|does) YOU (?:help|work)(?: (?:me|us|here|with|IT))*',
      'what are YOU (?:able to do|capable of|good for)(?: (?:here|with|IT))*',
      'what commands (?:are there|do YOU have|can WE use)',
    ],
  ],
  [
    'rights',
    [
      '(?:is|are) YOU (?:even )?(?:allowed|able|permitted) to [a-z]+(?: (?:things|stuff|anything|something|IT|here))*',
      '(?:do|does|can|could|will|would|may) YOU (?:[a-z]+ )+(?:on (?:your|its) own|by (?:your|it)self|yourself|alone|automatically)',
      '(?:do|does|can|could|will|would|may) YOU (?:[a-z]+ )+without (?:asking|approval|permission|me|us|a human|a person|ANYONE)',
      'what (?:can|may|could|do|does|are|is) YOU (?:allowed to |able to |permitted to )?(?:touch|change|read|see|access|do|run|have access to)(?: (?:here|on your own|by yourself|without asking|without approval))*',
      'do(?:es)? YOU have (?:access|rights|permissions?)(?: to (?:IT|anything))?',
    ],
  ],
  [
    'mine',
    [
      '(?:was|is|were) (?:IT|this) (?:YOU|your (?:doing|work))(?: (?:who|that) (?:did|ran|changed) IT)?',
      'did YOU (?:do|run|change|cause) IT(?: yourself| alone| on your own)?',
      'who (?:really )?did IT(?: was it)? YOU',
    ],
  ],
  [
    'undoable',
    [
      '(?:can|could|may|should|shall) (?:WE|YOU|ANYONE) (?:still )?undo(?: IT)?',
      '(?:can|could|may) IT (?:still )?be (?:undo|undone)',
      'how (?:can|could|do|would|should) WE undo(?: IT)?',
      'how to undo(?: IT)?',
      '(?:is|was|would) IT undo possible',
      '(?:is|would) (?:it|there) (?:be )?(?:(?:a|any) (?:way|chance|option) |possible )?(?:(?:to|for) )?undo(?: IT)?(?: possible)?',
      '(?:is )?(?:an? )?undo(?: IT)?(?: (?:possible|available))?',
      'what (?:can|could) (?:be undone|WE undo)',
      'any way (?:back|to undo(?: IT)?)',
    ],
  ],
  [
    'blast',
    [
      'what (?:does|will|would|could|can|might) approving(?: IT)? (?:break|do|affect|cause|harm)',
      'what (?:does|will|would|could|can|might) IT (?:break|do|affect|cause|harm) (?:if|when) WE (?:approve|press|run|do|say yes|accept)(?: IT)?',
      'what (?:does|will|would|could|can|might) the (?:fix|command|action|plan|proposal) (?:break|do|affect|cause|harm)',
      'what (?:happens?|breaks?|would happen|will happen|could happen|could go wrong|can go wrong|do WE lose) (?:if|when) WE (?:approve|press|run|do|say yes|accept)(?: (?:IT|to IT))?',
      'what (?:could|can|might) go wrong',
      '(?:is|would) (?:IT|approving(?: IT)?)(?: be)? safe to (?:approve|run|do)(?: IT)?',
      '(?:is|would) approving(?: IT)?(?: be)? (?:safe|dangerous|risky)',
      'what (?:is|are) the (?:risks?|danger|side effects?|blast)(?: (?:of|if|when) (?:IT|approving(?: IT)?|WE approve(?: IT)?))?',
    ],
  ],
  [
    'proposed',
    [
      'what (?:do|did|would|will) YOU (?:want to |like to )?(?:propose|suggest|recommend)',
      'what (?:do YOU want to|would YOU(?: like to)?|will YOU|are YOU going to) (?:run|do|execute|change)(?: if WE approve(?: IT)?)?',
      'what (?:exactly )?(?:would|will|should) (?:be )?(?:run|executed?|changed?)(?: exactly)?(?: if WE approve(?: IT)?)?',
      'what (?:is|was) (?:the |your )?(?:proposed|suggested|planned) (?:fix|change|action|command|plan)',
      'what (?:is|was) (?:the |your )?(?:proposal|suggestion|command|fix|action)',
      'what (?:is|was) proposed',
      'what (?:am|are|would|should|do|can) (?:i|we) (?:be )?(?:approv(?:e|ing)|(?:asked|supposed|going) to approve)(?: here)?',
    ],
  ],
  [
    'next',
    [
      'what (?:do|should|can|must|could|shall) WE (?:have to |need to )?do(?: (?:about|with|against) IT)?',
      'do WE (?:have|need) to do (?:anything|something)',
      'do YOU need (?:me|us|anything|something|help|WE|ANYONE)(?: (?:from|of) (?:me|us))?',
      'what do YOU need(?: (?:from|of) (?:me|us))?',
      'what (?:is|are) (?:there )?(?:left|open|still)? ?to (?:do|be done)',
      '(?:is )?(?:there )?(?:anything|something) (?:left )?(?:(?:for|to) (?:me|us|do)(?: to do)?|open)',
      '(?:is )?(?:anything|something) waiting (?:for|on) (?:me|us|ANYONE)',
      'what can YOU do (?:about|against) IT',
      'what now',
    ],
  ],
  [
    'doubt',
    [
      'what if (?:YOU|your|IT|the diagnosis|the cause) (?:is |are )?wrong',
      'when (?:is|are|would|could|will) (?:YOU|IT|the diagnosis|the cause) (?:be )?wrong',
      '(?:how |why )?(?:could|can|might|may) (?:YOU|IT|the diagnosis|the cause) be wrong',
      'what (?:would|could|will|might) (?:prove|show) (?:that )?(?:YOU|IT|the diagnosis|the cause) (?:is |are )?wrong',
      'what (?:would|could|will|might) (?:change your mind|convince you(?: otherwise)?|make you (?:doubt|change your mind))(?: IT)?',
    ],
  ],
  [
    'ruledOut',
    [
      'what (?:else|other causes?) (?:could|might|can|may|would|did|was|were|is|are)(?: (?:it|this|that|you|we))?(?: (?:be|have been|cause|explain|considered|consider|possible|look at|check))?(?: IT)?',
      '(?:are there |(?:is )?there |was there |have you |did you (?:check|consider|have) )?(?:any |an |some |what )?other (?:possible |likely )?(?:causes?|explanations?|reasons?|theories|suspects?)(?: (?:did|have|were|was|are) (?:you|there|we)?.*)?',
      'what (?:is|was|are) (?:it not|not it)',
      'what (?:can|could|may) WE (?:exclude|ruled-out)',
    ],
  ],
  [
    'helped',
    [
      'did (?:IT|ANYONE) (?:do|help|change|fix|solve|cure|achieve|work)(?: (?:anything|something|with anything|IT|things|out))?',
      'did the (?:fix|change|command|action) (?:do|help|fix|solve|work)(?: (?:anything|something|IT))?',
      '(?:has|have) IT (?:helped|worked|fixed|solved)(?: (?:anything|something|IT))?',
      'any (?:luck|success|effect|improvement)(?: with IT)?',
    ],
  ],
  [
    'impact',
    ['what (?:does|did) (?:it|this|that|the (?:problem|incident|issue|outage)) (?:break|affect|hit|harm)'],
  ],
  ['impact', ['who (?:is|was|are|were) (?:affected|impacted|hit)(?: by IT)?']],
  [
    'asked',
    [
      'how many (?:people|approvals|of us)(?: (?:do YOU need|are needed|does IT need|have to|must|need to)(?: approve(?: IT)?)?)?',
    ],
  ],
  ['asked', ['who (?:can|may|could|should|must|has to|needs to|is allowed to|is able to) approve(?: IT)?']],
  [
    'expiry',
    ['what happens (?:if|when) (?:nobody|no one|no-one) (?:approves?|decides?|answers?|says yes)(?: IT)?'],
  ],
  [
    'runbook',
    [
      '(?:what|which) runbook (?:did|do) YOU (?:use|follow|take)',
      'did YOU (?:use|follow|find) (?:a|any|the) runbook',
    ],
  ],
  [
    'over',
    [
      '(?:is )?IT still (?:going|happening|going on|there|on|ongoing|present)',
      'still (?:going|happening|going on|there|ongoing|on)',
    ],
  ],
  [
    'cause',
    [
      'what (?:it|this|that) (?:is|could be|might be)',
      'what (?:could|might|can|may) (?:it|this|that) be',
      'what do YOU think(?: (?:it is|is it|caused it|is wrong|happened|about IT))?',
    ],
  ],
  [
    'usual',
    [
      '(?:is|are|was|were|looks?|does|do)(?: not)? (?:IT|IT (?:number|many|much|high|low)|NUMBER)(?: look)?(?: (?:even|really|a bit|not|just))? NORMAL',
      '(?:is|was|are|were) (?:there )?(?:anything|something|any number) NORMAL',
      'what (?:is|was|looks|would be|do you call) NORMAL',
      'what (?:are|were) (?:the )?(?:usual|normal|typical) (?:values?|numbers?|range)',
      'how (?:many|much) (?:connections |sessions |load )?(?:is|are|would be) NORMAL',
      'how does IT compare (?:to|with) (?:what is )?(?:usual|normal|the usual)',
      '(?:what is|is there) (?:a|the|its|our) (?:baseline|usual|normal)',
    ],
  ],
  ['severity', ['(?:is|was) IT (?:critical|severe|urgent|serious)']],
];

const ways = {
  IT: '(?:it|this|that|these|those|them|this all|all (?:of )?(?:it|this|that)|(?:the|this|that|your|my) (?:thing|incident|problem|issue|alert|fix|change|action|plan|proposal|approval|card|alarm|outage|command|last one))',
  WE: '(?:i|we|one|you|somebody|someone|people)',
  YOU: '(?:you|u|sentry|the bot|this bot|this thing)',
  NORMAL:
    '(?:(?:un|ab)?(?:usual|normal)|typical|ordinary|expected|out of the ordinary|higher than usual|lower than usual|more than usual|less than usual)(?: (?:for|at|on|here|around) ?(?:IT|this hour|this time|that hour|(?:the|this) (?:time of day|system|target|database|host)|here|a (?:day|week) like this)?)*',
  NUMBER: '[\\d.,]+ ?(?:%|[a-z]+)?',
  ANYONE: '(?:anyone|anybody|someone|somebody|me|us|a human|a person)',
} as const;

/** Each name is written out, also within another. */
function spelled(shape: string): string {
  const whole = shape.replace(
    /\b(?:IT|WE|YOU|ANYONE|NORMAL|NUMBER)\b/g,
    (name) => ways[name as keyof typeof ways],
  );
  return whole === shape ? whole : spelled(whole);
}

const written = (shape: string): RegExp => new RegExp(`^(?:${spelled(shape)})$`);

const rows = shapes.map(([subject, asked]) => [subject, asked.map(written)] as const);

/** What begins and ends a question, and asks for nothing. */
const BEFORE = /^(?:(?:and|so|ok|hey|hi|but|well|um|please|then|also|wait)\b[\s,]*)+/;
const AFTER =
  /[\s,]+(?:please|pls|plz|now|yet|already|so far|here|then|exactly|actually|anyway|though|at all|again|mate|man)$/;

/** What a question asks for that is known as a whole; null: it has to be read word by word. */
export function wholeQuestion(text: string): Subject | null {
  const said = text.replace(BEFORE, '').replace(/,/g, '');
  const subject = rows.find(([, asked]) => asked.some((shape) => shape.test(said)))?.[0];
  // “what now” is a question; “is it over now” asks nothing more by its last word.
  if (subject !== undefined || !AFTER.test(said)) return subject ?? null;
  return wholeQuestion(said.replace(AFTER, ''));
}
