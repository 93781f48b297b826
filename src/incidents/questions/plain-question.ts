/** What people write in a hurry, and the one word that a record has for it. */
const plainly: ReadonlyArray<readonly [RegExp, string]> = [
  [/[’`]/g, "'"],
  [/\bwon'?t\b/g, 'will not'],
  [/\bcan'?t\b/g, 'can not'],
  [/n't\b/g, ' not'],
  [/\b(did|does|do|is|was|were|has|have|had|could|would|should|are)nt\b/g, '$1 not'],
  [/\b(what|who|how|where|when|that|it)s\b(?!-)/g, '$1 is'],
  [/'s\b/g, ' is'],
  [/'re\b/g, ' are'],
  [/'ve\b/g, ' have'],
  [/\b(you|they)re\b/g, '$1 are'],
  [/\bhow come\b/g, 'why'],
  [/\btl;?dr\b/g, 'summary'],
  [/\b(?:pls|plz)\b/g, 'please'],
  [/\bppl\b/g, 'people'],
  [/'ll\b/g, ' will'],
  [/\b(ok|okay)(?:'d|ed)\b|\b(?:green ?lit|signed off)\b/g, 'approved'],
  [
    /\b(?:gave|given|give)\b(?: \w+)? (?:ok|okay|go|go-ahead|green light|thumbs up|permission)\b/g,
    'approved',
  ],
  [/\b(?:say|says|said|saying) no\b|\ba no\b/g, 'denied'],
  [
    /\b(who|anybody|anyone|somebody|someone|people)((?: (?:is|was|were))?) (?:objects?|against)\b/g,
    '$1$2 denied',
  ],
  [
    /\b(?:roll|take|put|set|change)(?:ing)?((?: (?:it|this|that|them|these|those|(?:the|my|your|its) [\w-]+))?) back\b/g,
    'undo$1',
  ],
  [
    /\b(?:rolled|took|taken|changed)((?: (?:it|this|that|them|these|those|(?:the|my|your|its) [\w-]+))?) back\b/g,
    'undone$1',
  ],
  [/\b(?:ir)?(?:reversible|revert[ai]ble|undo-?able|revocable)\b/g, 'undo possible'],
  [/\b(?:revert|reverse|roll-?back|back-?out|undoing|reverting)\b/g, 'undo'],
  [/\b(?:reverted|reversed|rolled-back|undid|backed out)\b/g, 'undone'],
  [/\b(?:wake|woke|woken)\b((?: \w+)?) up\b/g, 'paged$1'],
  [/\b(when|how soon)\b(.*)\btimes? out\b/g, '$1$2 expires'],
  [
    /\bhow (?:much time|long) (?:do|does|have|has) (?:i|we|you|they|people|somebody) (?:have|got)(?: left)?(?: (?:to|for) (?:decide|approve|answer|decision|approval|it|this|that))*$/g,
    'when expires',
  ],
  [/\bblast radius\b/g, 'blast'],
  [/\bhow (?:bad|serious|severe|urgent|critical)\b/g, 'what severity'],
  [/\bwhose (?:ok|okay|approval|decision|go-ahead)\b/g, 'who approved'],
  [/\bsaid yes\b/g, 'approved'],
  [/\bon call\b/g, 'on-call'],
  [/\b(?:rule|ruled|ruling) (?:\w+ )?out\b/g, 'ruled-out'],
  [/\bhow (did|does|long did|long does) (.*)\blast\b/g, 'how $1 $2 lasted'],
  [/\b(?:right now|rn|atm|at the moment|currently)\b/g, 'now'],
  [/\bgonna\b/g, 'going to'],
  [/\b(?:wat|wut|wot)\b/g, 'what'],
  [/\bu\b/g, 'you'],
  [/\br\b/g, 'are'],
  [/(^|\band )y\b/g, '$1why'],
  [/\bkill(ed|ing)?\b/g, 'terminate'],
  [/\b(?:boun(?:ce|ced|cing)|reboot(?:ed|ing)?)\b/g, 'restart'],
  [
    /\b(?:who|anybody|anyone|somebody|someone)\b(.*)\b(?:has it|has this|on it|on this|at it|took it|got it|(?:looking|working)(?: (?:at|into|on) (?:it|this|that))?|(?:owns?|handles?|handling|investigating|knows?|aware)(?: (?:about|of))?(?: (?:it|this|that))?|dealing with (?:it|this|that)|in charge)(?: (?:already|yet|now|too|so far))?$/g,
    'who $1 assigned',
  ],
  [/\bwho (?:gave|handed|passed) (?:it|this|that)\b/g, 'who assigned it'],
  [
    /\b(since when|how long)\b(.*)\b(?:ha(?:s|ve|d) (?:it|this|had it)|on it|on this|at it)$/g,
    '$1 $2 assigned',
  ],
  [/\b(?:run|runs|ran) out\b/g, 'run-out'],
  [
    /\buntil when (?:can|could|may) (?:we|i|you|they|somebody|people) (?:approve|decide)\b(?: on)?/g,
    'when expires',
  ],
  [
    /^(?:please |so |and |ok |hey )*(?:(?:can|could|will|would) you |do (?:you|we) know |(?:(?:do you )?(?:have|got) )?any (?:idea|clue) )(?:please )?(?:tell|show|explain|give|say|know)?(?: to)?(?: me| us)? ?(?=(?:who|what|when|why|how|which|where|if|the)\b)/g,
    '',
  ],
];

/** A question as the rest reads it: lower-case, written out, without marks at its end. */
export function plain(text: string): string {
  const said = text
    .toLowerCase()
    .trim()
    .replace(/[?!.\s]+$/, '');
  return plainly.reduce((sofar, [from, to]) => sofar.replace(from, to), said);
}
