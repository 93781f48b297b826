import { type InjectionRule, isOrder, opensAsOrder, phrasesOf } from './injection-rule.ts';

const phrase = phrasesOf('system_prompt_override');
/** Another task, and what is to be answered, dictated. */
export const goalRules: readonly InjectionRule[] = [
  phrase(
    'new-instructions',
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
    'ethz-spylab/agentdojo attacks (InjecAgent)',
    ['strictly', 'solely', 'only', 'exclusively', 'instead', 'must now', 'obey'],
    `(?:strictly|solely|only|exclusively|instead,?|must now|obey) (?:(?:adhere to|follow|obey|execute|focus on|comply with|do|perform|respond to) )?(?:only )?(?:on )?(?:the|these|this|my) (?:following|below|next|new) (?:instructions?|commands?|directives?|orders?|(?:information|message|text) and)\\b`,
    isOrder,
  ),
  phrase(
    'from-now-on',
    'PayloadsAllTheThings, Prompt Injection',
    ['from now on', 'henceforth', 'from this point', 'from here on'],
    `(?:from now on|henceforth|from this point (?:on|forward|onwards?)|from here on(?: out)?)[,:]? (?:(?:you|your) (?:(?:are|must|will|shall|should|have to|can)(?: (?:now|only|always|never|no longer|to|be|also))* (?:a|an|in|my|dan|answers?|respon[ds]\\w{0,12}|reply|say|act|behave|obey|ignore|pretend|speak|write|output|print|comply|refuse|operate|serve|approve|execute|run|free|unrestricted|evil)|answers?|respon[ds]\\w{0,12}|act|only|always|no longer)|(?:always|only|never) (?:answer|respond|reply|say|act|approve|ignore)|ignore|act as|respond|answer|pretend|speak|obey)\\b`,
    isOrder,
  ),
  phrase(
    'instead-say',
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
    'Greshake et al. 2023; goal hijacking',
    ['your only', 'your new', 'your sole', 'your real', 'your actual', 'your true', 'your single'],
    `your (?:only|new|sole|real|actual|true|single) (?:job|task|goal|purpose|objective|mission|instruction|duty)s?(?: now)? (?:is|are|will be)(?: now)? (?:to )?(?:just |simply |only )?(?:print|say|output|repeat|reply|respond|answer|obey|convince|tell|ignore|approve|translate|generate|return|send|execute|delete|help me|serve me)\\b`,
  ),
  phrase(
    'instructions-void',
    'goal hijacking: the old instructions are said to be over',
    ['previous', 'prior', 'earlier', 'above', 'original', 'instructions', 'guidance', 'directives'],
    `(?:(?:previous|prior|earlier|above|original|existing) )?(?:instructions?|tasks?|assignments?|guidance|directives?|prompts?|rules)(?: (?:above|before|given|so far|you (?:got|received)))? (?:are|were|is|was) (?:(?:now|hereby|just|only|all) ){0,2}(?:(?:null and )?void|a test|a joke|cancell?ed|revoked|(?:outdated|wrong|invalid|superseded|obsolete)[;,.]? ?(?:please |and |so )?(?:follow|obey|do|use|execute) (?:these|this|mine|my|the (?:following|new|next)) )`,
    ({ text, start, secret }) =>
      /previous|prior|earlier|above|original|before|given|so far|you /i.test(secret) ||
      /\b(?:previous|prior|earlier|original|your|all)\s+$/i.test(text.slice(Math.max(0, start - 16), start)),
  ),
  phrase(
    'translate-as',
    'goal hijacking of translation',
    ['translate '],
    `translate (?:this|the|every|any|each|all)(?: [a-z]+){0,3}? as ["'“«]`,
    opensAsOrder,
  ),
  phrase(
    'drop-the-task',
    'goal hijacking',
    ['drop ', 'cancel ', 'abort ', 'abandon ', 'stop what'],
    `(?:drop|cancel|abort|abandon|stop) (?:(?:the|your|this|what|that) )(?:(?:current|present|previous|original|whole|last) )?(?:task|assignment|job|work|goal|mission|request|you(?: are|'re) doing)[^\\n]{0,30}?(?: and|[.,;:]) ?(?:then |instead |just |now ){0,2}(?:say|print|output|repeat|reply|respond|write)(?: exactly| only| with| back)* ?[:"'“]`,
    opensAsOrder,
  ),
  phrase(
    'say-all-is-well',
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
    'goal hijacking: the form of all answers is dictated',
    ['you will only', 'you will now only', 'you shall only', 'you must only', 'you may only', 'you can only'],
    `you (?:will|shall|must|may|can)(?: now)? only (?:answer|reply|respond|speak|say|output|write|print) (?:with|in|by|using|["'“])`,
  ),
  phrase(
    'new-orders',
    'goal hijacking',
    ['new orders', 'new order:', 'new task', 'new instruction', 'new goal'],
    `new (?:orders?|tasks?|instructions?|goals?)[:!] ?(?:just |please |you (?:must|will) )?(?:say|print|output|reply|respond|repeat|answer|tell|ignore|approve|write ["'“])\\b`,
    opensAsOrder,
  ),
  phrase(
    'stop-and-say',
    'NVIDIA/garak promptinject (goal hijacking)',
    ['stop now', 'stop every', 'stop it', 'stop here', 'stop all', 'stop right', 'stop!'],
    `stop(?: (?:everything|now|it|all|here|right)){0,3}[!.,]{0,4} ?(?:now[!.,]{0,4} ?)?(?:and |then )?(?:just )?(?:print|say|output|repeat|write) ?["'“:]`,
    opensAsOrder,
  ),
];
