import { type InjectionRule, phrasesOf } from './injection-rule.ts';

const phrase = phrasesOf('delimiter_injection');
const chat =
  'chat templates of Llama, ChatML, Alpaca, Gemma (huggingface.co/docs/transformers/chat_templating)';
const garak = 'NVIDIA/garak latentinjection (ended sessions, faked turns)';

/** At the beginning of a sentence, too: an alert's annotations often are one line. */
function atSentenceStart({ text, start }: { readonly text: string; readonly start: number }): boolean {
  return atLineStart({ text, start }) || /[.!?)\]]\s{1,3}$/.test(text.slice(Math.max(0, start - 4), start));
}

function atLineStart({ text, start }: { readonly text: string; readonly start: number }): boolean {
  return /(?:^|[\n>|"'`*#\\]|\\n|-{3,}|={3,}|<!--)[\s*>#]{0,6}$/.test(
    text.slice(Math.max(0, start - 12), start),
  );
}

/** Marks that close our quotation and open a turn of somebody else. */
export const delimiterRules: readonly InjectionRule[] = [
  phrase(
    'chat-template',
    chat,
    ['<|', '[inst]', '[/inst]', '<<sys', '<</sys', '<start_of_turn>', '<end_of_turn>'],
    `(?:<\\|/?(?:im_start|im_end|im_sep|endoftext|endofprompt|system|user|assistant|end|eot_id|eom_id|start_header_id|end_header_id|begin_of_text|end_of_text|channel|message)\\|>|\\[/?INST\\]|<</?SYS>>|<(?:start|end)_of_turn>)`,
    ({ secret }) => !secret.startsWith('[') || secret === secret.toUpperCase(),
  ),
  phrase(
    'system-heading',
    'ethz-spylab/agentdojo attacks; Alpaca prompts',
    ['system', 'instruction:', 'admin', 'developer'],
    `(?:\\(?(?:system|admin|developer)[_ -](?:message|prompt|override|instructions?|command)\\)?[\\])]|(?:system|admin|developer)[_ -](?:message|prompt|override|instructions?|command)\\s{0,2}[:\\])>]|instructions?:\\s{0,2}(?:\\n|(?:reply|respond|say|print|ignore|output|repeat|answer)\\b))`,
    ({ text, start, secret }) =>
      /(?:#{2,}\s*\(?|[[<(]{1,2}\/?|\*{2,}|={3,}\s*|-{3,}\s*)$/.test(
        text.slice(Math.max(0, start - 8), start),
      ) ||
      (/^system[_ -](?:override|command)/i.test(secret) && atLineStart({ text, start })),
  ),
  phrase(
    'system-turn',
    garak,
    ['system:', 'system :', 'developer:', 'admin:'],
    `(?:system|developer|admin) ?:\\s{1,3}(?:the (?:operator|user|admin|developer)s? (?:wants?|asks?|orders?|instructs?|has (?:approved|authori[sz]ed))|you (?:are|must|will|should|have)|ignore|disregard|focus|from now|forget|provide|print|reply|respond|always|never|do not|the user|new instruction|override|stop|act|approve|tell|reveal|say|your|please|output|answer|only|(?:this|the|all|every|no)\\b[^\\n.]{0,60}? (?:(?:is|are|was) (?:clearly |completely |fully )?(?:not (?:a threat|malicious|dangerous)|safe|trust(?:worthy|ed)|benign|harmless|legitimate|verified|approved|authori[sz]ed)))\\b`,
    atSentenceStart,
  ),
  phrase(
    'faked-turn',
    garak,
    ['assistant:', 'user:', 'human:', 'ai:'],
    `(?:human:[^\\n]{0,400}\\n\\s{0,8}assistant:|(?:assistant|ai):[^\\n]{0,400}\\n\\s{0,8}>?\\s{0,2}(?:user|human):|(?:user|human):\\s{0,3}(?:next|now|thanks|thank you|great|good|perfect|wonderful|excellent|ignore|repeat|forget|print|translate|(?:please|could you|can you|ok|okay|what|tell|before)\\b(?=[^\\n]{0,60}\\b(?:repeat|say|print|echo|ignore|forget|translate|output|reveal|prompt|instructions)\\b))\\b)`,
    atLineStart,
  ),
  phrase(
    'ended-session',
    garak,
    ['end of', 'end_of', 'end system', 'begin system', 'start of'],
    `(?:(?:end|start)[ _]of[ _](?:the )?(?:session|conversation|(?:system )?prompts?|instructions?|context|untrusted|user input|input|tool (?:output|result)|data|document|quote|quotation)|(?:end|begin) system (?:prompt|message))\\s{0,2}[>\\])=*#-]`,
    ({ text, start }) => /[<[(=*#-]\s{0,2}\/?$/.test(text.slice(Math.max(0, start - 4), start)),
  ),
  phrase(
    'role-in-json',
    'platform.openai.com and docs.claude.com: message roles',
    ['"role"', "'role'", '\\"role\\"'],
    `\\\\?["']role\\\\?["']\\s{0,3}:\\s{0,3}\\\\?["'](?:(?:system|developer)\\\\?["']\\s{0,3},\\s{0,3}\\\\?["']content|(?:user|human)\\\\?["']\\s{0,3},\\s{0,3}\\\\?["']content\\\\?["']\\s{0,3}:\\s{0,3}\\\\?["'](?:now|next|ignore|thanks|thank you|great|forget|repeat|good,))`,
    // The body of a request in documents of LLM services.
    ({ text, start }) =>
      !/messages\\?["']?\s{0,3}[:=]\s{0,3}\[\s{0,8}\{\s{0,8}$/i.test(
        text.slice(Math.max(0, start - 40), start),
      ),
  ),
  phrase(
    'our-own-marks',
    'the marks in which Sentry quotes memory and tool output',
    [
      'sentry_',
      'tool_result',
      'tool_output',
      'function_results',
      'untrusted',
      'system_prompt',
      'system>',
      'system-reminder',
    ],
    `(?:sentry_[a-z_]{1,40}|tool_(?:result|output)s?|function_results|untrusted[a-z_-]{0,20}|system_prompt|system-reminder)>`,
    ({ text, start }) => /<\/?$/.test(text.slice(Math.max(0, start - 2), start)),
  ),
  phrase(
    'system-element',
    garak,
    ['<system', '<sys', '<admin', '<developer', '<instruction'],
    `<(?:system|sys|admin|developer|instructions?)(?:[ _-](?:message|prompt|note|instructions?))?>\\s{0,3}(?:you (?:are|must|will|should)|ignore|disregard|forget|only|just|always|never|do not|reveal|repeat|say|print|reply|respond|tell|approve|from now|new)\\b`,
  ),
  phrase(
    'loud-section',
    garak,
    ['end of', 'begin', 'end user', 'end system', 'start system'],
    `(?:END|BEGIN|START)(?: OF)?(?: THE)? (?:USER (?:INPUT|MESSAGE|PROMPT)|SYSTEM (?:PROMPT|MESSAGE|INSTRUCTIONS)|PROMPT|INSTRUCTIONS|UNTRUSTED [A-Z]+)\\s{0,2}[.:]`,
    ({ secret }) => secret === secret.toUpperCase(),
  ),
  phrase(
    'system-fence',
    garak,
    ['```system', '```instruction', '```admin', '[system]', '[admin]'],
    `(?:\`\`\`(?:system|instructions?|admin)[ \\t]{0,3}\\n\\s{0,3}(?:you|ignore|disregard|do not|always|never|from now)\\b|\\[(?:system|admin)\\] (?:ignore|disregard|you (?:are|must)|delete (?:all|every)|do not ask|approve|grant|transfer)\\b)`,
  ),
];
