/** The seed's classes of injection by name, and those beyond it. */
export type InjectionClass =
  | 'system_prompt_override'
  | 'role_hijack'
  | 'delimiter_injection'
  | 'indirect'
  | 'encoded'
  | 'multi_lingual'
  | 'exfiltration'
  | 'approval_skipping';

/** What an order to a model looks like in general. What no rule says outright is the model's to weigh. */
export interface InjectionRule {
  readonly id: string;
  readonly class: InjectionClass;
  /** One of these, lower case, stands in whatever the pattern matches: only around them it is tried. */
  readonly needs: readonly string[];
  /** And one of each of these beside it. */
  readonly alsoNeeds: readonly (readonly string[])[];
  /** Global, for text in lower case: for any case it would take three times as long to compile. Every repetition is bounded. */
  readonly pattern: RegExp;
  /** `order`: not negated and not told of others. `opens`: an order at the beginning of a sentence or clause. `line`: at the beginning of a line. */
  readonly stands: 'order' | 'opens' | 'line' | 'anywhere';
}

/** Words that mean the same, for `{name}` in a pattern. */
const words: Readonly<Record<string, string>> = {
  drop: "(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|neglect|overlook|omit|discard|bypass|override|abandon|dismiss|skip|drop|(?:put|set|leave|lay|cast) (?:aside )?|do(?: not|n't) (?:follow|obey)|pay no attention to|stop following)",
  earlier:
    '(?:previous|prior|preceding|above|foregoing|earlier|initial|original|former|past|system|developer|safety|your|those|its)',
  orders:
    '(?:instructions?|directives?|directions|prompts?|rules|guidelines?|guidance|orders|constraints|restrictions|guardrails?|safeguards|programming|assignments?)',
  being:
    '(?:ai|a\\.i\\.|llm|assistants?|chat ?bots?|bot|language model|model|hackers?|pirate|terminal|shell|interpreter|console|character|persona|dan|jailbroken|unrestricted|unfiltered|uncensored|(?:developer|debug|god|maintenance|admin|sudo) mode|responder|sentry)',
  reader:
    '(?:(?:ai|a\\.i\\.|llm|automated|autonomous|artificial intelligence)(?: (?:agents?|assistants?|systems?|models?|bots?|tools?|reviewers?|readers?))?|llms|large language models?|language models?|chat ?bots?|assistants?|chatgpt|gpt(?:-?[\\d.]+)?|claude|copilot|gemini)',
  show: "(?:reveal|show|print|display|output|repeat|recite|tell|give|share|leak|expose|disclose|return|write|copy|paste|dump|list|provide|send|describe|summari[sz]e|paraphrase|translate|encode|convert|spell|render|include|echo|quote|state|explain|extract|reproduce|complete|decode|type|format|append|rewrite|put|export|what(?:'s| is| are| was| were))",
  secrets:
    '(?:secrets?|credentials?|passwords?|tokens?|api[ -]?keys?|access keys?|ssh keys?|private keys?|env(?:ironment)? (?:variables|vars|files?)|\\.env|kubeconfigs?|(?:chat|conversation) history|system prompt|user data|personal data)',
  guards:
    '(?:approvals?(?: (?:steps?|gates?|process|checks?|requirements?|workflow|cards?))?|safety(?: (?:checks?|rules?|guidelines?|measures?|protocols?|polic(?:y|ies)|filters?|guards?))?|confirmations?|human (?:approval|review|oversight)|permission checks?|guardrails?|content (?:polic(?:y|ies)|filters?))',
  say: '(?:say|print|output|repeat|reply|respond|answer|write|tell|report|state|claim|conclude)',
  bound: '(?=[.,;!:]|\\s*$)',
};

/** One rule a line under its class: id, how it stands, what it needs (`a|b&c|d`), pattern; a blank is any gap between words. */
const table = String.raw`
system_prompt_override
  ignore-earlier    order  ignor|disregard|forget|neglect|overlook|omit|discard|bypass|override|abandon|dismiss|drop|put |set |leave |lay |follow|obey|attention&instruct|directi|prompt|rules|guid|orders|constraint|restriction|guardrail|safeguard|programming|assignment  {drop} (?:\w+ ){0,3}?{earlier} (?:\w+ ){0,2}?{orders}\b
  ignore-and-say    opens  ignor|disregard|forget|dismiss|drop|cancel|abort|stop  (?:{drop}|cancel|abort|stop)\b[^\n.]{0,90}?(?:[.,;!:]+ ?|\band |\bthen )(?:\w+ ){0,2}?(?:{say}|start over|begin anew)(?: (?:only|just|exactly|back|with|that|the (?:following|words?|phrase|text)|in|as|to|over|anew))*[: ]*["'“«:<]
  ignore-and-act    opens  ignor|disregard|forget  (?:ignore|disregard|forget) [^\n.]{0,60}? and (?:just |only |instead |simply )*(?:print|say|output|reply|respond|repeat)\b
  ignore-instructions opens  ignor|disregard|forget|obey|attention&instruct|rules|above|previous|prior|preceding|foregoing  (?:(?:ignore|disregard|forget) (?:all |any )?(?:instructions|rules|of the above|the above)\b|(?:{drop}|do(?: not|n't) obey) (?:all |any |the )?(?:previous|prior|preceding|above|foregoing) (?:commands|messages|text|content|conversation|context|inputs?)\b)
  ignore-everything opens  ignor|disregard|forget&you|above|before|so|preced|previous|prior  (?:ignore|disregard|forget) (?:about )?(?:all|everything|anything|whatever|what)(?: (?:of|that|else|the|text|written))* (?:you|above|before|so far|preced\w+|(?:previous|prior)(?! (?:versions?|errors?|alerts?|releases?|runs?|values?|lines|results?|failures?|warnings?)\b))\b
  ignore-user       opens  ignor|disregard&user|operator|human|call  (?:ignore|disregard) (?:what )?(?:the|your) (?:users?|operators?|humans?|on-?call)(?:'s)? (?:and|requests?|questions?|instructions?|says?|said|asks?|asked|wants?)\b
  start-over        opens  ignor|disregard|forget|neglect|omit|discard|abandon|dismiss&over|anew|fresh|again|scratch&start|begin  {drop} [^\n.]{0,80} and (?:start|begin)(?:ing)?(?: all)? (?:over|anew|afresh|again|from scratch|fresh)\b
  your-new-task     anywhere  your &instruction|directive|order|task|goal|objective|job|mission|purpose|role  (?:^|\W)your (?:only|new|sole|real|actual|true|single|next|updated)(?: system)? (?:instructions?|directives?|orders?|tasks?|goals?|objective|job|mission|purpose|role)(?: now)? ?(?:[:=]|is\b|are\b|will be\b)
  new-instructions  line  new |updated|override|important&instruction|directive|order|task|objective  (?:important |here are (?:the |your )?)?(?:new|updated|revised|override)(?: system)? (?:instructions?|directives?|orders?|task|objective)(?: for you)? ?[:!]
  obey-only-this    order  strictly|solely|only|exclusively|instead|must now|obey&instruction|command|directive|order|information|message|text&following|below|next|new  (?:strictly|solely|only|exclusively|instead,?|must now|obey) (?:(?:adhere to|follow|obey|execute|focus on|comply with|do|perform|respond to) )?(?:only )?(?:on )?(?:the|these|this|my) (?:following|below|next|new) (?:instructions?|commands?|directives?|orders?|(?:information|message|text) and)\b
  from-now-on       order  from now on|henceforth|from this point|from here on  (?:from now on|henceforth|from this point (?:on|forward|onwards?)|from here on(?: out)?)[,:]? (?:you (?:are|will|shall|must (?:only |always |never )?(?:answer|respond|reply|say|act|obey|approve|speak|ignore))|your|always|only|never|ignore|act|respond|answer|pretend|speak|obey)\b
  instructions-void anywhere  instruction|directive|prompt|rules|guideline|orders|guidance|constraint|restriction&void|test|joke|cancel|revoked|outdated|superseded|obsolete|longer|overridden|replaced  (?:(?:previous|prior|earlier|above|original|your|all) {orders}|{orders} (?:above|before|so far|(?:that )?you (?:got|received|were given|have))) (?:are|were|is|was|have been) (?:\w+ ){0,2}?(?:void|test|joke|cancell?ed|revoked|outdated|superseded|obsolete|no longer|overridden|replaced)\b
  stop-and-say      opens  stop|drop|abandon&what|task|job|work  (?:stop|drop|abandon) (?:what you(?: are|'re) doing|(?:the|your|this) (?:current |present )?(?:task|job|work))[,.]? (?:and|now|instead)\b
  say-exactly       opens  just |only |simply |instead|repeat|print&say|print|output|repeat|reply|respond|answer|write|tell|report|state|claim|conclude&"|“|«|:  (?:(?:just|only|simply|instead,?) (?:just )?{say}(?: with| only)?|(?:reply|respond|answer) only with|(?:repeat|print) (?:the (?:following|next) (?:sentence|text|phrase|words?|message)|after me))[: ]*["“«:]
  dictated-verdict  opens  verdict|record this|note this|remember this|store this|conclude that  (?:(?:your )?(?:final )?verdict ?[:=] ?["']?(?:no|not|benign|false|resolved|healthy|safe)[_ a-z]{0,20}|(?:record|note|remember|store) this ?: ?[^\n]{0,80}\b(?:approved|trusted|safe|always|never|allowed)\b|conclude that [^\n.]{0,50}\b(?:no action|false positive|nothing))
role_hijack
  you-are-now       anywhere  you&ai|a.i.|llm|bot|assistant|model|hacker|pirate|terminal|shell|interpreter|console|character|persona|dan|jailbroken|unrestricted|unfiltered|uncensored|mode|responder|sentry&are|'re|will|shall  \byou(?:'re| are| will| shall)(?: now| no longer| henceforth| from now on| be| going to)+(?: (?:be|act(?:ing)? as|play(?:ing)?|in))?(?: (?:an?|the|our|my|in))?(?: [\w-]+){0,4}? {being}\b
  act-as            opens  act as|act like|acting as|acting like|behave|respond as|answer as|speak as|role|impersonat|persona|identity&ai|a.i.|llm|bot|assistant|model|hacker|pirate|terminal|shell|interpreter|console|character|persona|dan|jailbroken|unrestricted|unfiltered|uncensored|mode|responder|sentry  (?:act(?:ing)? (?:as|like)|behave (?:as|like)|(?:respond|answer|speak) as|role-? ?play(?:ing)?(?: as)?|impersonate|(?:take on|assume|adopt) the (?:role|persona|identity) of)(?: if| though)?(?: you(?:'re| are| were))?(?: (?:an?|the|my|our))?(?: [\w-]+){0,4}? {being}\b
  pretend           order  pretend|imagine|role-play|roleplay|personalit|opposite day  (?:pretend (?:to be|you|that (?:you|this|there)|there (?:is|are) no)|imagine (?:that )?you(?:'re| are| were| have) |let(?:'?s| us) (?:role-? ?play|play pretend)|two personalities\b|opposite day\b)
  jailbreak         anywhere  do anything now|dan mode|jailbr|developer mode|god mode|sudo mode|unrestricted|unfiltered|uncensored  (?:do anything now|dan mode|jailbr(?:eak|oken)(?: mode| prompt| yourself)|(?:developer|god|sudo) mode (?:enabled|activated|on|output|v\d)|(?:unrestricted|unfiltered|uncensored) (?:ai|assistant|model|mode|answers?|responses?)\b)
  no-limits         anywhere  you&restriction|guideline|guardrail|filter|boundaries|rules|ethics|limits|polic&have|know|bound|follow|obey  \byou (?:have|know|are bound by|follow|obey) no (?:\w+ )?(?:restrictions|guidelines|guardrails|filters|boundaries|rules|ethics|limits|polic(?:y|ies))\b
  without-limits    order  without|free |freed|no ethical|no moral&restriction|limitation|filter|censorship|ethical|moral|rules  (?:answer|respond|act|model|assistant|ai|speak|character)\b[^\n.]{0,50}? (?:without (?:any )?(?:restrictions?|limitations?|filters?|censorship|ethical|moral)|freed? from (?:all |any )?(?:restrictions|rules)|no (?:ethical|moral) (?:guidelines|limits))
  your-maker        anywhere  your&creator|developer|maker|programmer|trainer|master|boss|owner|operator  (?:^|\W)(?:i(?:'m| am)|this is|as) your (?:creator|developer|maker|programmer|trainer|master|new (?:boss|owner|operator))\b
  rules-lifted      anywhere  restrictions|limits are|guideline|limitations|guardrail|safeguard|rules|filters|polic|approvals&suspended|lifted|disabled|waived|void|relaxed|off|apply  (?:\byour (?:[\w-]+ ){0,2}?|\b(?:all|safety|approval|usual|normal) (?:[\w-]+ ){0,1}?|^|[\n.:!] ?)(?:guidelines|restrictions|limitations|limits(?! are disabled)|guardrails?|safeguards|rules|filters|polic(?:y|ies)|approvals) (?:are|is|have been|has been|were|do(?:es)? not|no longer)(?: (?:now|all|hereby|temporarily))? (?:suspended|lifted|disabled|waived|void|relaxed|off|apply)\b(?= ?(?:for (?:this|the|you|now|today)|during|until|here|now|[,;:!.] ?(?:\w+ )?(?:you|execute|run|do|obey|restart|approve|just)|$))
  guardrails-off    anywhere  off|disabled|lifted&guardrail|safeguard|restriction|safety  (?:guardrails?|safeguards|restrictions|safety(?: checks?| mode)?)(?: are| is| now)* (?:off|disabled|lifted|suspended)[,;!:] ?(?:execute|run|do|obey|comply|you|say|answer)\b
  forget-yourself   opens  forget  forget (?:that |who )?you(?:'re| are)\b(?! (?:on (?:call|duty)|logged))
delimiter_injection
  chat-template     anywhere  <\||[inst]|[/inst]|<<sys|_of_turn>  (?:<\|/?(?:im_start|im_end|im_sep|endoftext|system|user|assistant|end|eot_id|start_header_id|end_header_id|begin_of_text|channel|message)\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>)
  our-own-marks     anywhere  sentry_|tool_|function_results|untrusted|system_prompt|system-reminder  </?(?:sentry_[a-z_]{1,40}|tool_(?:result|output)s?|function_results|untrusted[a-z_-]{0,20}|system_prompt|system-reminder)>
  system-element    anywhere  <system|<admin|<developer|<instruction  <(?:system|admin|developer|instructions?)(?:[ _-](?:message|prompt|note|mode|instructions?))?>\s{0,3}(?:you|ignore|disregard|forget|only|just|always|never|do not|reveal|repeat|say|print|reply|respond|tell|approve|from now|new)\b
  system-heading    anywhere  system message|system prompt|system override|system instruction|system command|system_|system-|admin_|admin-|admin |developer &message|prompt|override|instruction|command  (?:#{2,}\s{0,3}\(?|[[<(]{1,2}\/?|\*{2,}|={3,}\s{0,3}|-{3,}\s{0,3}|(?:^|\n)(?=system[_ -](?:override|command)))(?:system|admin|developer)[_ -](?:message|prompt|override|instructions?|command)\)?\s{0,2}[:\])>]
  system-turn       line  system:|system :|system]|system note|developer:|developer]|admin:|admin]  \[?(?:system|developer|admin)(?: note| notice)?\]? ?[:\]]\s{0,3}(?:you|your|ignore|disregard|forget|focus|from now|print|reply|respond|always|never|do not|the (?:operator|user|admin)|new instruction|override|stop|act|approve|tell|reveal|say|output|answer|only|please|delete (?:all|every)|grant|(?:this|the|all|every)\b[^\n.]{0,60}? (?:is|are|was) (?:\w+ )?(?:not (?:a threat|malicious)|safe|trust\w+|benign|harmless|legitimate|verified|approved|authori[sz]ed))\b
  faked-turn        line  assistant:|user:|human:|ai:  (?:human:[^\n]{0,400}\n\s{0,8}assistant:|(?:assistant|ai):[^\n]{0,400}\n\s{0,8}>?\s{0,2}(?:user|human):|(?:user|human):\s{0,3}(?:next|now|thanks|thank you|great|good|perfect|wonderful|excellent|ignore|repeat|forget|print|translate|(?:please|could you|can you|ok|okay|what|tell|before)\b(?=[^\n]{0,60}\b(?:repeat|say|print|echo|ignore|forget|translate|output|reveal|prompt|instructions)\b))\b)
  ended-session     anywhere  end of|end_of|start of|start_of|end system|begin system  [<[(=*#-]\s{0,2}\/?(?:(?:end|start)[ _]of[ _](?:the )?(?:session|conversation|(?:system )?prompts?|instructions?|context|untrusted|user input|input|tool (?:output|result)|data|document|quote)|(?:end|begin) system (?:prompt|message))\s{0,2}[>\])=*#-]
  loud-section      line  end |begin |start &input|message|prompt|instructions  (?:end|begin|start)(?: of)?(?: the)? (?:user (?:input|message|prompt)|system (?:prompt|message|instructions)|prompt|instructions)\s{0,2}[.:]
  role-in-json      anywhere  role"|role'|role\"  (?<!messages\\?["']?\s{0,3}[:=]\s{0,3}\[\s{0,32}\{\s{0,32})\\?["']role\\?["']\s{0,3}:\s{0,3}\\?["'](?:(?:system|developer)\\?["']\s{0,3},\s{0,3}\\?["']content|(?:user|human)\\?["']\s{0,3},\s{0,3}\\?["']content\\?["']\s{0,3}:\s{0,3}\\?["'](?:now|next|ignore|thanks|great|forget|repeat|good,))
indirect
  note-to-the-model anywhere   ai|,ai|:ai| llm|assistant|language model|chatbot|chat bot|gpt|claude|copilot|gemini|automated|autonomous&note|message|instruction|attention|reminder|hello|hey|dear|warning|important  (?:notes?|messages?|instructions?|attention|reminder|hello|hey|dear|warning|important)(?:[,:]|(?: (?:to|for))(?: (?:the|any|all|every))?) {reader}\b(?! (?:provider|gateway|platform|features?|integration|api|service|setup|users?|teams?|model|responses?|assisted|generated|compatible))
  if-you-are-a-model anywhere   ai| llm|assistant|language model|chatbot|chat bot|gpt|claude|copilot|gemini|automated|autonomous|ing this&you|read|processing|summari|analy|parsing|must|shall  (?:(?:if|when|because|since) you(?:'re| are) (?:an? )?{reader}|(?:if|when(?:ever)?|any|all) (?:an? |the |any )?{reader} (?:is |are |that is |that are |who is )?(?:reads? this|reading|processing|summari[sz]\w+|analy[sz]ing|parsing|must|shall)\b|(?:reading|processing|summari[sz]ing|parsing) this (?:text|message|document|page|log|alert|file|email|output|ticket)?[:,]? ?(?:you )?(?:must|should|shall|please)\b)
  hidden-comment    anywhere  <!--|/*|display:|font-size|visibility|color:  (?:<!--|/\*|display:\s?none|font-size:\s?0|visibility:\s?hidden|color:\s?(?:white|#fff))[^]{0,120}?(?:\b(?:ai|llm|assistant|model|agent|bot)s?\b[^]{0,60}?\b(?:must|should|please|ignore|run|execute|send|reveal|approve|do not)\b|\b(?:ignore|disregard|forget) (?:all |any |the |your )?(?:previous|prior|above)\b|\byou must\b)
  from-the-user     anywhere  important |urgent |critical &message|instruction|directive  (?:important|urgent|critical)(?: new)? (?:message|instructions?|directive)s? (?:from|for|to) (?:me|the (?:user|system|admin\w{0,12}|developer|operator|owner|assistant|model|ai|agent)|your?)\b
  do-this-first     anywhere  before you|before answer|before respond|before summari|before complet|before solv|before finish|before reply|before continu|before proceed|before go|prior to  (?:before|prior to) (?:you )?(?:can |could |may )?(?:(?:solv|complet|answer|finish|respond|reply|summari[sz])\w{0,12}|(?:continu\w{1,3}|go on|proceed\w{0,3}) with (?:the|your|this) (?:task|request|summary|analysis|investigation|answer|question))[^\n]{0,60}?(?:do the following|please do|you must|always|first,?|,) (?:please )?(?:send|run|execute|call|open|visit|fetch|read|delete|load|download|restart|do)\b
  do-not-tell       order  tell|mention|inform|notify|secret&not|n't|never|without|keep  (?:(?:do not|don't|never) (?:tell|mention|inform|notify|let|reveal)[^\n.]{0,40}?\b(?:users?|anyone|operators?|humans?|on-?call|them know)\b|without (?:telling|informing|notifying) (?:the |any )?(?:users?|operators?|humans?|anyone|on-?call)|keep this (?:a )?secret)
  said-to-the-model opens  assistant|agent|llm|model|chatbot|gpt|claude|copilot|gemini| ai|ai:|ai,|reviewer&please|kindly|now|first|must|should|shall|has|is|you&ignore|disregard|forget|skip|not|reveal|obey|rate|approve|transfer|grant|run|execute|restart|call|output|print|say|delete|recommend|mark|comply|change  (?:{reader}|agents?)[,:]? (?:(?:please|kindly|now|first|must|should|shall|has to|is to|you (?:must|should|have to|are to)) ){1,2}?(?:ignore|disregard|forget|skip|not (?:tell|mention|report|ask)|reveal|obey|rate|approve|transfer|grant|run|execute|restart|call|output|print|say|delete|recommend|mark|comply|change)\b
  model-by-name     opens  ai,|ai:|llm,|llm:|llms,|llms:|assistant,|assistant:|agent,|agent:|agents,|agents:|assistants,|assistants:|model,|model:|models,|models:|reviewer,|reviewer:|reviewers,|reviewers:|bot,|bot:|bots,|bots:  (?:ai (?:agents?|assistants?|models?|reviewers?|bots?)|llms?|assistant|reviewer ai)[,:] (?:ignore|disregard|forget|skip|do not|don't|never|tell the|reveal|obey|rate|approve|transfer|grant|run|execute|call)\b
  when-summarised   opens  summari|translat|process this|read this&say|state|claim|tell|recommend|conclude|omit|ignore|output|print  (?:when(?:ever)? )?(?:you )?(?:summari[sz](?:e|ing)|translat(?:e|ing)|process this|read this)(?: (?:this|it|the))?(?: (?:text|log|page|document|ticket|alert|issue|message|file|thread|incident))?,? (?:always |please |also |only |you (?:must|should) ){0,2}(?:say|state|claim|tell|recommend|conclude|omit|ignore|output|print)\b
  said-harmless     anywhere  if asked|when asked|asks|are asked|not report|n't report|never report|not flag|n't flag|never flag|report no&malicious|threat|suspicious|dangerous|compromised|safe|harmless|benign|legitimate|clean|problem|issue|risk|injection|harmful|findings  (?:(?:if|when) (?:(?:you are|the user|anyone|someone) )?(?:asked|asks)(?: about [a-z ]{1,20})?,? (?:please |just |always )?{say}(?: that)? [^\n.]{0,60}?\b(?:not (?:malicious|a threat|suspicious|dangerous|compromised)|safe|harmless|benign|legitimate|clean|no (?:threat|problem|issue|risk))|(?:do not|don't|never) (?:report|flag) (?:this|it|any\w*|these)[^\n.]{0,30} (?:suspicious|malicious|an? injection|a threat|harmful)|report no (?:findings|issues|problems|threats){bound})
  follow-what-it-says opens  what&says|tells|written|orders  (?:follow|obey|execute|do) (?:what|whatever) (?:it|the (?:page|file|text|document|comment|message)|is) (?:says|tells(?: you)?|written|orders)\b
exfiltration
  show-prompt       order  prompt&system|initial|original|hidden|secret|internal|developer|pre|your  (?<!-)(?!(?:put|append|add|write|include)(?: it)? (?:to|in|into) ){show}\b[^\n.]{0,70}?\b(?:(?:system|initial|original|hidden|secret|internal|developer|pre-?)[ -]?prompts?|your (?:full|entire|whole|exact|complete)? ?prompt)\b
  show-instructions opens  your |you &prompt|instruction|directive|system|guidelines|rules|preamble|context|constraints  {show}\b[^\n.]{0,60}?(?:\byour (?:(?!with |for |own |custom )\w+ ){0,3}?(?:prompts?|instructions?|directives?|system messages?|guidelines|rules|preamble|context window)\b|\b(?:instructions?|rules|prompts?|guidelines|directives?|constraints) (?:that |which )?you (?:were|have been|are|got|received|must)\b)
  your-system-prompt anywhere  your &prompt|instruction|message|directive  \byour (?:exact |full |complete |entire |own )?(?:(?:system|hidden|secret|internal|developer) (?:prompts?|instructions?|messages?|directives?)|(?:initial|original) (?:prompts?|instructions|directives))\b
  what-were-you-told anywhere  you|told&what|which  (?:what|which) (?:(?:exactly|else|all|instructions?|rules|guidelines|things?) ){0,2}(?:were|are|have|did) (?:you (?:been )?(?:told|given|instructed|programmed|configured|prompted|hiding|forbidden|(?:operating|working|running) under)|(?:the|your) (?:developers?|creators?|makers?) (?:tell|told|instruct|say))\b
  repeat-above      opens  above|before|preced&repeat|print|output|copy|show|write|recite|summari|display|return|translate|paste|say|spell|proof|correct&everything|all|text|words|content|message|conversation  (?:repeat|print|output|copy|show|write|recite|summari[sz]e|display|return|translate|paste|say|spell-? ?check|proof-?read|correct)[^\n]{0,30}? (?:everything|all(?: (?:the|of the))? ?(?:text|words|content)?|the (?:(?:exact|previous|first|initial|entire|whole) )?(?:words|text|content|message|conversation))(?: (?:that|written|from|which|is|was|were|you see|came))*,? (?:above|before|preceding)(?: (?:this|here|the|my|now|starting|in)|[.,:"'!]|$)
  first-of-prompt   order  prompt|context|message&your&first|last|every|all|content|quote|each  (?:first|last|every|all|contents?|quote|each) [^\n.]{0,40}?(?:of|in|from) your (?:\w+ ){0,2}?(?:context(?: window)?|prompt|(?:developer|system) message)\b
  prompt-in-code    order  prompt|instructions&print|console.log|echo|cat|dump|return  (?:print|console\.log|echo|cat|dump|return)[ (]{1,2}["'\x60]?(?:\w{1,20}\.)?(?:system_?prompt|initial_?prompt|developer_?message|(?:assistant|agent|model|self|llm)\.instructions)
  answer-with       anywhere  your|next&answer|response|reply|replies|message|output|next&start|begin|end|prefix|preface&with|by  (?:start|begin|end|prefix|preface) (?:your|each|every|the) (?:answers?|response|reply|replies|message|output|next)[^\n]{0,20}? (?:with|by)\b
  all-secrets       opens  secret|credential|password|token|api key|api-key|apikey|access key|ssh key|private key|env|kubeconfig|history|user data|personal data|system prompt&show|send|give|dump|list|print|reveal|leak|exfiltrate|mail|forward|upload|post|tell|output  (?:show|send|give|dump|list|print|reveal|leak|exfiltrate|e?mail|forward|upload|post|tell|output)(?: (?:me|us|out|them))?(?: (?:all|every|the|your|of|user|users'?|admin|stored|saved|database|production|their|its)){0,4} {secrets}(?: (?:to|at|into|via|here|in)\b|{bound})(?! (?:names?|versions?|metadata))
  send-secrets-out  order  http|attacker|evil&exfil|collect|evil|attack|steal|leak|hook|data=|?q=|?d=|ngrok|requestbin|oast  (?:send|post|upload|forward|exfil(?:trate)?|transmit|e?mail|leak|append|deliver|submit|encode|open|visit|load|fetch)\b[^\n]{0,80}?(?:{secrets}|result|contents?|response|conversation|summary|answer|data|followed by)\b[^\n]{0,60}? (?:to|at|into|via|by) [^\n]{0,30}?(?:https?://(?![\w.-]*localhost)[^\s]{0,80}(?:exfil|collect|evil|attack|steal|leak|hook|data=|\?q=|\?d=|ngrok|requestbin|oast)|attacker|evil\b)
  secret-in-address order  http&followed|plus|append|with|including&secret|credential|password|token|key|env|kubeconfig|history|prompt|data  (?:open|visit|load|fetch|request|call) https?://[^\s]{4,120} (?:followed by|plus|and append|with (?:the|your|all)|including) [^\n.]{0,30}?{secrets}
  secret-file       order  /etc/|id_rsa|id_ed25519|.aws|.kube|.env|/token  (?:read|cat|open|mail|send|forward|upload|post|paste|include|print)\b[^\n]{0,40}?(?:/etc/(?:shadow|passwd)|id_rsa|id_ed25519|\.aws/credentials|\.kube/config|serviceaccount/token|\.env\b),?[^\n]{0,30}? (?:(?:and|then|to|in|into|as)(?: the)? (?:paste|post|put|include|send|add|append|share|print|show|pass|your|answer|reply|me\b|https?://|[\w.+-]{1,40}@))
  append-to-url     order  append|the result|resulting|url encode|url-encode&url|query|link|http|page|address  (?:append(?: (?:it|this|them|that|the [a-z]+))?(?: (?:as|encoded|in base64))? to (?:the (?:url|query|link)|https?://)|(?:load|visit|open|fetch|retrieve|access)[^\n]{0,30}? the resulting (?:url|link|page|address)|url[- ]encode (?:the|it|this|all|your))
  image-beacon      anywhere  ![|<img&data|secret|prompt|history|token|summary|base64|password|info|query|content|conversation|context|chat|message|key  (?:!\[[^\]\n]{0,80}\]\(|<img\b[^>\n]{0,40}src=["']?)https?://[^)>\s]{1,120}[?&/=](?:[^)>\s]{0,40}=)?(?:\{|\$\{?|<|%7b|\[)[^)\n]{0,60}(?:data|secret|prompt|history|token|summary|base64|password|info|query|content|conversation|context|chat|message|key)
  shell-beacon      anywhere  curl|wget|/dev/tcp&@/|@~|@.|$(|/dev/tcp  (?:(?:curl|wget)\b[^\n;]{0,160}?(?:@(?:/etc/|~?/?\.ssh|~?/?\.aws|~?/?\.kube|\.env)|\$\((?:env|printenv|cat (?:/etc/|~?/?\.)|base64))|/dev/tcp/\d)
approval_skipping
  skip-guards       order  content polic|content filter|approval|safety|confirmation|human |permission check|guardrail&skip|bypass|disregard|ignor|override|circumvent|waiv|forgo|evad|disabl|deactivat|turn  (?:skip|bypass|disregard|ignor|override|circumvent|waiv|forgo|evad|disabl|deactivat|turn off)(?:e|ping|ing|s)?(?: (?:the|any|all|your|this|its|human|manual|further|standard|usual))* {guards}(?! (?:step is|interlock|valve|feature|prompts?\b))\b
  act-without       opens  without|bypassing|skipping&approval|permission|confirmation|asking|review|consent  (?:run|execute|apply|restart|delete|do it|proceed|continue|perform|go ahead|approve|deploy|scale|drop|kill)\b[^\n.]{0,60}? (?:without|bypassing|skipping) (?:\w+ ){0,2}?(?:approval|permission|confirmation|asking|review|consent)\b(?! (?:only|unless|if|of))
  do-not-ask        order  not ask|n't ask|never ask|not wait|n't wait|never wait|no need to|not need|n't need|not have to|n't have to|not request|n't request|not seek|n't seek&approval|permission|confirmation|consent|user|operator|anyone|question  (?<!(?:^|\n)\s{0,8}--?[a-z][^\n]{0,70})(?:(?:do not|don't|never) (?:have to |need to )?(?:ask|wait for|request|seek)|no need to (?:ask|wait for)|you (?:do not|don't) (?:have to|need(?: to)?)(?: ask| wait| request)?)(?: (?:for|the|any|me|users?|operators?|anyone|a|my))* (?:approval|permission|confirmation|consent|(?:users?|operators?|anyone|questions){bound})(?! (?:when|if|unless|where)\b)
  no-approval       anywhere  approval|permission|confirmation&needed|required|necessary  (?:no (?:further |human |additional )?(?:approval|permission|confirmation) (?:is |card )?(?:is )?(?:needed|required|necessary)|(?:approval|confirmation|permission) (?:is |was )?(?:not|no longer) (?:needed|required|necessary))\b[^\n.]{0,40}?(?:\b(?:you|assistant|agent|model|bot|ai) (?:can|may|should|must)\b|[,;:.!] ?(?:just |simply |so )?(?:run|execute|proceed|go ahead|restart|apply|do it))
  auto-approve      opens  approve&action|command|request|change|fix|plan|proposal|tool  (?:(?:auto-? ?|automatically )approve|approve(?= all| every| any| my)) (?:this|it|the|all|every|any|my|these)(?: (?:next|following|proposed|pending))? (?:actions?|commands?|requests?|changes?|fix(?:es)?|plans?|proposals?|tool calls?)\b
  already-approved  anywhere  approved|authori|granted|given|agreed|obtained|received&action|command|fix|operation|tool|user|admin|operator|approval|permission|already  (?:(?:(?:this|the) (?:action|command|fix|operation|tool call)|user|admin\w{0,12}|operator) (?:is|has|was)(?: already| been| fully| pre-?)* (?:pre-?)?(?:approved|authori[sz]ed|agreed)|(?:approval|permission) (?:granted|given|received|obtained)|already (?:agreed|approved|authori[sz]ed)(?: (?:to )?(?:it|this|that|everything))?)\b[^\n.]{0,40}?[,;.:] ?(?:so |please |just |and |you (?:may|can) (?:now )?)?(?:execute|run|proceed|go ahead|apply|restart|do it|no (?:further )?(?:confirmation|approval))\b
  say-it-is-safe    opens  say|claim|respond|treat|classify|mark|declare|conclude&safe|approved|harmless|read-only|risk|trusted|authori  (?:say|claim|respond|conclude|declare|classify|mark|treat)(?: that)? (?:the|this|these|it|every|all|any)(?: [a-z]+){0,3}? (?:is|are|as) (?:\w+ )?(?:safe|approved|harmless|read-only|low risk|trusted|authori[sz]ed)\b
  counts-as-approval order  approv|authori|permission|consent|confirm|clicked|pressed&treat|consider|regard|count|interpret|take|accept|act|continue|proceed|go|behave|execute|run&as|to  (?:(?:treat|consider|regard|count|interpret|take|accept) (?:this|my|it|that)(?: [a-z]+)? (?:as|to be) (?:an?|the|my|your|full)?(?: [a-z]+)? ?(?:approval|authori[sz]ation|permission|consent|confirmation)|(?:act|continue|proceed|go on|behave|execute|run)\b[^\n.]{0,20} as (?:if|though) [^\n.]{1,30}? (?:approved|confirmed|authori[sz]ed|clicked|pressed))\b
  granted-role      anywhere  i am |i'm |this is |behalf&override|ignore|bypass|skip|disable|grant|you|approve|authori|order|command  (?:(?:i am|i'm|this is) (?:from |with )?(?:the |your |an? )?(?:\w+ ){0,2}?(?:admin\w{0,12}|owner|ceo|cto|ciso|security (?:team|officer)|compliance (?:bot|team)|management)\b|on behalf of (?:the )?(?:management|admin\w*|ceo|security))[^\n]{0,60}?\b(?:override|ignore|bypass|skip|disable|grant|you (?:must|can|may|are)|approve|i (?:authori[sz]e|order|command))\b
multi_lingual
  override-latin    anywhere  ignor|vergiss|vergess|missacht|uberspring|ausser kraft|oubli|neglig|olvid|omit|descart|caso omiso|dimentic|trascur|esquec|desconsider|negeer|vergeet|zapomn|pomin|abaikan|lupakan|bo qua| uita|glom|yok say|unut  (?:z?ignor\w{0,6}|vergiss|vergess\w{0,2}|missacht\w{0,4}|uberspring\w{0,3}|oublie\w?|neglige\w?|olvid\w{1,3}|omit[ae]|descart\w{1,2}|haz caso omiso|dimentic\w{1,4}|trascur\w{1,3}|esquec\w{1,2}|desconsider\w|negeer|vergeet|zapomn\w{1,3}|pomin|abaikan|lupakan|(?:hay )?quen|bo qua| uita|glom|glem) (?!(?:the|all|any|previous|prior|your)\b)(?:[a-z'’]+ ){0,6}?(?:(?:anweisung|instruktion|befehl|vorgabe|regel|richtlini|systemprompt|consigne|instruct?[cz]i|directi[vz]|diretri[zc]|ordr?e[ns]|regle|regla|regra|regol|indicaci|istruzion|instructie|opdracht|polecen|instrukcj|pokyn|instruksi|perintah|huong dan|chi dan)\w{0,8}|(?:alles|todo|tudo|tutto|tout),? (?:was|lo|o que|cio|quello|ce|bisherige|davor|anterior|acima))(?<=(?:alle|deine|ihre|bisher|vorher|vorig|obig|tout|tes|vos|toda|todo|tus|sus|anterior|preced|previ|tutt|tue|suas|poprzedn|wszystk|alle|semua|tat ca|toate|cac|les|las|as|le|die)[a-z]{0,8} [^.\n]{0,60})
  override-turkish  anywhere  talimat|yonerge|komut  (?:onceki|yukaridaki|tum|butun)[^\n.]{0,20} (?:talimat|yonerge|komut)\w{0,10} (?:yok say|gormezden gel|unut|dikkate alma)
  reveal-latin      anywhere  prompt|anweisung|instru|regeln|consignes|istruzion|sistema&zeig|gib|nenn|verrat|wiederhol|affich|montr|donn|revel|repet|muestra|dime|repite|imprime|mostr|exiba|dimmi|rivela|stampa|ripeti  (?:zeige?|gib|nenne?|verrate?|wiederhole?|affiche\w?|montre\w?|donne\w?|revele\w?|repete\w?|muestra(?:me)?|dime|revela|repite|imprime|mostr[ae]|exiba|dimmi|rivela|stampa|ripeti)(?:-moi)? (?:[a-z']+ ){0,3}?(?:deine?n?|ihren?|tes|ton|vos|votre|tus?|sus?|seus?|suas?|tuo|tue|il|el|o) (?:[a-z']+ ){0,3}?(?:system-? ?prompts?|prompts?\b|anweisung|instruktion|regeln|instructions?|consignes|instrucciones|instrucoes|istruzioni|sistema)
  override-cjk      anywhere  指令|指示|说明|說明|提示|命令|规则|規則|要求|批准|安全|ルール|プロンプト|지시|명령|지침|프롬프트|규칙  (?:(?:忽略|无视|無視|忽视|忽視|忘记|忘記|忘掉|不要理会|不要遵循|不要遵守|跳过|绕过)[^\n。.]{0,12}?(?:指令|指示|说明|說明|提示|命令|规则|規則|要求|批准|安全)|(?:显示|顯示|输出|輸出|打印|告诉我|泄露|透露|重复)[^\n。.]{0,12}?(?:系统提示|系統提示|系统指令|提示词|初始指令)|(?:以前|前|上記|これまで|すべて|全て|今まで)[^\n。]{0,10}?(?:指示|命令|プロンプト|ルール|指令)[^\n。]{0,6}?(?:無視|忘れ|従わ)|システムプロンプト[^\n。]{0,8}?(?:表示|出力|教え|見せ)|(?:이전|앞선|위의?|기존|모든)[^\n.]{0,10}?(?:지시|명령|지침|프롬프트|규칙)[^\n.]{0,6}?(?:무시|잊|따르지)|시스템 ?프롬프트[^\n.]{0,8}?(?:보여|출력|알려))
  override-cyrillic anywhere  инструкц|указан|команд|правил|промпт|вказів|інструкц  (?:(?<!не )(?:про|з)?(?:и|і)гнорир?уй(?:те)?|забудь(?:те)?|не (?:следуй|выполняй|виконуй)(?:те)?)(?:\s{1,3}[а-яёіїєґ]{1,14}){0,4}?\s{1,3}(?:инструкци|указани|команд|правил|промпт|інструкц|вказів)[а-яёії]{0,4}|(?:покажи|выведи|раскрой|скажи|повтори)(?:те)?(?:\s{1,3}[а-яё]{1,12}){0,3}?\s{1,3}(?:системн[а-яё]{1,4}|свои)\s{1,3}(?:промпт|инструкци|сообщени)[а-яё]{0,4}
  override-other    anywhere  تعليمات|أوامر|القواعد|निर्देश|आदेश|ההוראות|הוראות|คำสั่ง|οδηγ|εντολ  (?:(?:تجاهل|انس|لا تتبع|تخط)[^\n.]{0,14}?(?:تعليمات|التعليمات|الأوامر|أوامر|القواعد)|(?:पिछले|पिछली|पूर्व|उपरोक्त|सभी)[^\n।]{0,14}?(?:निर्देश|आदेश)[^\n।]{0,10}?(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)|(?:התעלם|התעלמו|שכח)[^\n.]{0,12}?(?:ההוראות|הוראות)|(?:ละเว้น|เพิกเฉย|ไม่ต้องสนใจ|ลืม)[^\n]{0,14}?คำสั่ง|(?:αγνο|ξεχασ)[^\n.]{0,20}?(?:οδηγι|εντολ))
`;

const gap = String.raw`[\s>*_#|+~"'()\x60-]`;

/** Words of the pattern with `{names}` filled in and a blank as a gap; blanks in brackets and after a backslash stay as they are. */
function patternOf(source: string): RegExp {
  const filled = source.replace(/\{([a-z]+)\}/g, (_, name: string) => words[name] as string);
  const spaced = filled.replace(/\\.|\[(?:\\.|[^\]\\])*\]| (\??)/g, (part, optional?: string) =>
    part.startsWith(' ') ? `${gap}{${optional === '?' ? 0 : 1},4}` : part,
  );
  return new RegExp(spaced, 'g');
}

const wordsOf = (list: string): readonly string[] =>
  list.split(/(?<!\\)\|/).map((word) => word.replace('\\|', '|'));

/** Every rule; where two overlap, the first names the finding. */
const injectionRules: readonly InjectionRule[] = table
  .trim()
  .split(/\n(?=\w)/)
  .flatMap((section) => {
    const [kind, ...lines] = section.split('\n');
    return lines.map((line): InjectionRule => {
      const [, id, stands, needs, pattern] = /^ {2}(\S+) +(\S+) {2}(.+?) {2}(?=\S)(.+)$/.exec(line) ?? [];
      if (pattern === undefined) throw new Error(`not a rule: ${line}`);
      const [first, ...alsoNeeds] = (needs as string).split('&').map(wordsOf);
      return {
        id: id as string,
        class: kind as InjectionClass,
        stands: stands as InjectionRule['stands'],
        needs: first as readonly string[],
        alsoNeeds,
        pattern: patternOf(pattern),
      };
    });
  });

/** The numbers of the rules that need a word, by the word, and the words by their first two characters. */
const rulesByNeed = new Map<string, number[]>();
for (const [rule, { needs }] of injectionRules.entries())
  for (const need of needs) rulesByNeed.set(need, [...(rulesByNeed.get(need) ?? []), rule]);
const pairOf = (text: string, at: number): number =>
  ((text.charCodeAt(at) & 127) << 7) | (text.charCodeAt(at + 1) & 127);
const needsByPair = Array.from({ length: 1 << 14 }, (): string[] => []);
const isPair = new Uint8Array(1 << 14);
for (const need of rulesByNeed.keys()) {
  const pair = pairOf(need, 0);
  (needsByPair[pair] as string[]).push(need);
  isPair[pair] = 1;
}

/** A match lies within so many characters before and behind what it needs. */
const BEFORE = 240;
const BEHIND = 320;

/** Where in a text a rule is to be tried. */
export interface Region {
  readonly rule: InjectionRule;
  readonly start: number;
  end: number;
}

/** Of the same length, so that places stay what they are. */
export function inLowerCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The surroundings of what rules need, in one pass over a text in lower case. */
export function regionsOf(lower: string): readonly Region[] {
  const regions: Region[] = [];
  const last: (Region | undefined)[] = [];
  const add = (rule: number, at: number): void => {
    const before = last[rule];
    const start = Math.max(0, at - BEFORE);
    if (before !== undefined && before.end >= start) before.end = at + BEHIND;
    else
      regions.push((last[rule] = { rule: injectionRules[rule] as InjectionRule, start, end: at + BEHIND }));
  };
  for (let at = 0; at + 1 < lower.length; at++) {
    const pair = pairOf(lower, at);
    if (isPair[pair] === 0) continue;
    for (const need of needsByPair[pair] as string[])
      if (lower.startsWith(need, at)) for (const rule of rulesByNeed.get(need) as number[]) add(rule, at);
  }
  return regions;
}
