import { type InjectionRule, phrasesOf } from './injection-rule.ts';

const source =
  'the override phrase in the languages that teams write in; deepset prompt-injections has German ones';

const phrase = phrasesOf('multi_lingual');

function latin(language: string, hints: readonly string[], pattern: string): InjectionRule {
  return phrase(`override-${language}`, source, hints, pattern);
}

/** In Latin script, without accents (the text is folded before). */
export const languageRules: readonly InjectionRule[] = [
  latin(
    'de',
    ['ignorier', 'vergiss', 'vergesse', 'missacht', 'beachte', 'befolge', 'uberspring'],
    `(?:ignorier\\w{0,12}|vergiss|vergesst|vergessen sie|missacht\\w{0,12}|uberspring\\w{0,12})(?: (?:bitte|jetzt|sie|nun|mal|einfach))* (?:(?:alle|alles|samtliche|jegliche|die|deine|ihre|eure|meine|der|den|was)n? ){0,3}(?:(?:bisherig|vorherig|vorangegangen|vorhergehend|vorig|obig|fruher|zuvor|gegeben|bestehend|ursprunglich|system)\\w{0,12} ){0,2}(?:anweisung\\w{0,12}|instruktion\\w{0,12}|befehl\\w{0,12}|vorgabe\\w{0,12}|prompts?|auftrag\\w{0,12}|regeln|aufgaben|systemprompt\\w{0,12}|aussagen|nachrichten|richtlinien|(?:davor|zuvor|vorher|oben|bisher)(?![a-z]))`,
  ),
  latin(
    'fr',
    ['ignore', 'oublie', 'ne tiens pas', 'ne tenez pas', 'ne suis pas', 'ne suivez pas', 'neglige'],
    `(?:(?:ignore[rz]?|oublie[rz]?|neglige[rz]?|ne (?:suis|suivez) pas) (?:(?:toutes?|tous|les|tes|vos|ces|l'ensemble|de|des) ){1,4}|ne (?:tiens|tenez) pas compte (?:(?:de|des|toutes?|tous|tes|vos|ces|les) ){1,4})(?:instructions?|consignes?|directives?|ordres?|regles?|messages?|invites?)(?: (?:precedent\\w{0,12}|anterieur\\w{0,12}|ci-dessus|initial\\w{0,12}|donnee?s?|recues?|du systeme|systeme|de securite))?`,
  ),
  latin(
    'es',
    ['ignora', 'ignore', 'olvida', 'olvide', 'omite', 'omita', 'haz caso omiso', 'no sigas', 'descarta'],
    `(?:ignor(?:a|e|en|ad|ar)|olvid(?:a|e|en|ar|ate de)|omit(?:e|a|an|ir)|descart(?:a|e|ar)|haz caso omiso de|no sigas) (?:(?:todas?|todos?|las?|los?|tus|sus|mis|cualquier|de) ){0,4}(?:instruccion(?:es)?|indicacion(?:es)?|directrices?|ordenes|reglas|mensajes|normas|prompts?)(?: (?:anterior\\w{0,12}|previ[ao]s?|de arriba|iniciales|dadas?|del sistema))?`,
  ),
  latin(
    'pt',
    ['ignore', 'ignora', 'esqueca', 'esquece', 'desconsidere', 'desconsidera', 'nao siga'],
    `(?:ignor(?:e|a|em|ar)|esquec(?:a|e|am|er)|desconsider(?:e|a|ar)|nao siga) (?:(?:todas?|todos?|as?|os?|suas?|tuas?|quaisquer|de) ){0,4}(?:instruc(?:oes|ao)|orientac(?:oes|ao)|diretrizes|ordens|regras|mensagens|comandos|prompts?)(?: (?:anterior\\w{0,12}|previ[ao]s|acima|iniciais|dadas|do sistema))?`,
  ),
  latin(
    'it',
    ['ignora', 'ignori', 'dimentica', 'trascura', 'non seguire'],
    `(?:ignor(?:a|i|are|ate)|dimentic(?:a|hi|are|ate)|trascur(?:a|are)|non seguire) (?:(?:tutte|tutti|le|gli|i|tue|tuoi|ogni|qualsiasi) ){0,4}(?:istruzion[ei]|indicazion[ei]|direttiv[ea]|ordini|regole|messaggi(?!o)|comandi|prompt)(?: (?:precedent[ei]|anterior[ei]|sopra|inizial[ei]|date|di sistema))?`,
  ),
  latin(
    'nl',
    ['negeer', 'vergeet', 'sla '],
    `(?:negeer|vergeet|sla)(?: (?:alle|al|de|het|je|jouw|uw|deze)){0,3} (?:(?:vorige|voorgaande|eerdere|bovenstaande|vroegere|gegeven) )?(?:instructies?|opdrachten|aanwijzingen|regels|berichten|prompts?|richtlijnen)(?: (?:hierboven|over))?`,
  ),
  latin(
    'sv',
    ['ignorera', 'glom', 'bortse', 'ignorer', 'glem', 'unohda', 'ohita'],
    `(?:ignorer\\w{0,12}|glom|glem|bortse fran|se bort fra|unohda|ohita) (?:(?:alla|alle|de|dina|dine|tidigere|kaikki) ){0,3}(?:tidigare|foregaende|tidligere|foregaende|forrige|ovanstaende|aiemmat|edelliset) (?:instruktion\\w{0,12}|anvisning\\w{0,12}|instruks\\w{0,12}|ohjeet|kommandon|meddelanden)`,
  ),
  latin(
    'pl',
    ['zignoruj', 'ignoruj', 'zapomnij', 'pomin'],
    `(?:z?ignoruj|zapomnij o?|pomin)(?: (?:wszystkie|wszystkich|wszelkie|swoje|twoje)){0,2} (?:poprzednie|poprzednich|wczesniejsze|powyzsze|dotychczasowe) (?:instrukcj\\w{0,12}|polecen\\w{0,12}|wiadomosc\\w{0,12}|wytyczn\\w{0,12})`,
  ),
  latin(
    'cs',
    ['ignoruj', 'zapomen', 'ignorujte'],
    `(?:ignoruj(?:te)?|zapomen(?:te)?(?: na)?)(?: (?:vsechny|vsechna|veskere|svoje|tvoje)){0,2} (?:predchozi|drivejsi|vyse uvedene|predesle|predchadzajuce) (?:pokyny|instrukce|prikazy|instrukcie|zpravy)`,
  ),
  latin(
    'tr',
    ['onceki', 'yukaridaki', 'tum '],
    `(?:(?:tum|butun) )?(?:onceki|yukaridaki|daha onceki)(?: (?:tum|butun))? (?:talimat\\w{0,12}|yonerge\\w{0,12}|komut\\w{0,12}|mesaj\\w{0,12})(?:'?[a-z]{0,4})? (?:yok say|gormezden gel|unut|dikkate alma|goz ardi et)`,
  ),
  latin(
    'id',
    ['abaikan', 'lupakan'],
    `(?:abaikan|lupakan)(?: (?:semua|seluruh|segala)){0,2} (?:instruksi|perintah|arahan|petunjuk|pesan)(?: (?:sebelumnya|di atas|terdahulu|awal))?`,
  ),
  latin(
    'vi',
    ['bo qua', 'quen'],
    `(?:bo qua|hay quen|quen)(?: (?:tat ca|moi|cac|nhung|het)){0,3} (?:huong dan|chi dan|lenh|chi thi|tin nhan)(?: (?:truoc|truoc do|o tren|ben tren))`,
  ),
  latin(
    'ro',
    ['ignora', 'ignorati', 'uita '],
    `(?:ignora(?:ti)?|uita)(?: (?:toate|orice)){0,2} (?:instructiunile|indicatiile|comenzile|regulile)(?: (?:anterioare|precedente|de mai sus))?`,
  ),
  latin(
    'all-de',
    ['vergiss alles', 'ignoriere alles', 'setz', 'vergessen sie alles'],
    `(?:(?:vergiss|ignoriere|vergessen sie) alles(?:,? (?:was|davor|bisherige|obige|vorherige)|[,.!] ?(?:und|antworte|sag))|setze?n? (?:sie )?(?:alle|deine|die) (?:sicherheits\\w{0,12}|regeln|richtlinien)(?: [a-z]+)? au(?:ss|ß)er kraft)`,
  ),
  latin(
    'all-romance',
    ['olvida', 'olvide', 'ignora', 'ignore', 'esquec', 'dimentica', 'oublie'],
    `(?:olvid[ae]|ignor[ae]|esquec[ae]|dimentica|oublie[rz]?) (?:todo|tudo|tutto|tout)(?: (?:lo|o|cio|quello|ce))?(?: (?:que|che|qui))? (?:anterior|acima|sopra|preced\\w{0,6}|previo|de arriba|veio antes|antes)`,
  ),
  latin(
    'reveal-de',
    ['zeig', 'gib ', 'gebt ', 'nenn', 'verrate', 'wiederhol', 'schreib', 'druck'],
    `(?:zeige?|gib|gebt|nenne?|verrate?|wiederhole?|schreibe?|drucke?)(?: (?:mir|uns|bitte|jetzt|alle|aus)){0,3} (?:(?:deine?n?|ihren?)|(?:den|die)(?= (?:[a-z]+ )?system))(?: (?:ganzen?|vollstandigen?|genauen?|geheimen?|ursprunglichen?|internen?|system|ersten?|kompletten?)){0,3} (?:system-? ?prompt|prompt\\b|anweisung|instruktion|systemanweisung|systemnachricht|regeln)\\w{0,3}`,
  ),
  latin(
    'reveal-fr',
    ['affiche', 'montre', 'donne', 'revele', 'repete', 'ecris', 'imprime'],
    `(?:affiche[rz]?|montre[rz]?|donne[rz]?|revele[rz]?|repete[rz]?|ecris|imprime[rz]?)(?:-(?:moi|nous))?(?: (?:moi|tes|ton|vos|votre|le|les|l'integralite de)){1,3} (?:prompt (?:systeme|initial)|invite systeme|instructions (?:systeme|initiales|secretes|cachees|internes|d'origine|de depart)|message systeme)`,
  ),
  latin(
    'reveal-es',
    [
      'muestra',
      'dime',
      'revela',
      'repite',
      'imprime',
      'mostra',
      'mostre',
      'revele',
      'exiba',
      'dimmi',
      'rivela',
      'stampa',
      'ripeti',
    ],
    `(?:muestra|dime|revela|repite|imprime|mostra|mostre|revele|exiba|dimmi|rivela|stampa|ripeti)(?:me|mi|nos|te)? (?:(?:tu|tus|su|sus|seu|seus|suas|il|le|el|las|o|as|tuo|tue|sua|completo|todo|todas) ){1,4}(?:prompt (?:del? |do |di )?(?:sistema|inicial|iniziale|completo)|(?:instrucciones|instrucoes|istruzioni) (?:del? |do |di )?(?:sistema|inicial\\w{0,2}|originales|originais|originali|ocultas|secretas|segrete|iniziali)|mensa(?:je|gem) (?:del? |do )sistema)`,
  ),
];

export interface ScriptPattern {
  readonly id: string;
  /** Global; the gaps are bounded. */
  readonly pattern: RegExp;
}

/** In other scripts: few enough to be tried on every text that has their characters. */
export const scriptPatterns: readonly ScriptPattern[] = [
  {
    id: 'override-zh',
    pattern:
      /(?:忽略|无视|無視|忽视|忽視|忘记|忘記|忘掉|不要理会|不要理會|不要遵循|不要遵守|跳过|跳過|绕过|繞過)[^\n。.]{0,12}?(?:指令|指示|说明|說明|提示|命令|规则|規則|要求|对话|對話|内容|內容|审批|審批|批准|安全)/g,
  },
  {
    id: 'reveal-zh',
    pattern:
      /(?:显示|顯示|输出|輸出|打印|告诉我|告訴我|泄露|洩露|透露|重复|重複)[^\n。.]{0,12}?(?:系统提示|系統提示|系统指令|系統指令|提示词|提示詞|初始指令)/g,
  },
  {
    id: 'override-ja',
    pattern:
      /(?:(?:以前|前|上記|これまで|すべて|全て|今まで|先)[^\n。]{0,10}?(?:指示|命令|プロンプト|ルール|メッセージ|指令|説明)[^\n。]{0,6}?(?:無視|忘れ|従わ)|(?:システムプロンプト|システム指示)[^\n。]{0,8}?(?:表示|出力|教え|見せ))/g,
  },
  {
    id: 'override-ko',
    pattern:
      /(?:(?:이전|앞선|위의?|기존|모든)[^\n.]{0,10}?(?:지시|명령|지침|프롬프트|규칙|메시지|안내)[^\n.]{0,6}?(?:무시|잊|따르지)|시스템 ?프롬프트[^\n.]{0,8}?(?:보여|출력|알려))/g,
  },
  {
    id: 'override-ru',
    pattern:
      /(?<!не\s)(?:игнорир(?:уй|уйте|овать)|проигнорируй(?:те)?|забудь(?:те)?(?: о| про)?|не (?:следуй|выполняй|обращай внимания на)(?:те)?|пропусти(?:те)?)(?:\s{1,3}[а-яё]{1,12}){0,4}?\s{1,3}(?:инструкци|указани|команд|правил|сообщени|промпт|запрос|подтвержден|одобрен)[а-яё]{0,4}/giu,
  },
  {
    id: 'reveal-ru',
    pattern:
      /(?:покажи|выведи|раскрой|напечатай|скажи|повтори)(?:те)?(?:\s{1,3}[а-яё]{1,12}){0,3}?\s{1,3}(?:системн[а-яё]{1,4}\s{1,3}(?:промпт|инструкци|сообщени|подсказк)|свои\s{1,3}инструкци)[а-яё]{0,4}/giu,
  },
  {
    id: 'override-uk',
    pattern:
      /(?:ігноруй(?:те)?|проігноруй(?:те)?|забудь(?:те)?(?: про)?|не виконуй(?:те)?)(?:\s{1,3}[а-яіїєґ]{1,12}){0,4}?\s{1,3}(?:інструкці|вказівк|команд|правил|повідомлен)[а-яіїєґ]{0,4}/giu,
  },
  {
    id: 'override-ar',
    pattern:
      /(?:تجاهل|انس|انسى|لا تتبع|تخط)[^\n.]{0,14}?(?:التعليمات|تعليمات|الأوامر|أوامر|الإرشادات|القواعد|الرسائل)/g,
  },
  {
    id: 'override-fa',
    pattern:
      /(?:دستورات|دستورالعمل|دستورالعمل‌های|پیام)[^\n.]{0,14}?(?:قبلی|بالا)[^\n.]{0,10}?(?:نادیده|فراموش)/g,
  },
  {
    id: 'override-he',
    pattern: /(?:התעלם|התעלמי|התעלמו|שכח|תשכח)[^\n.]{0,12}?(?:ההוראות|הוראות|ההנחיות|הפקודות)/g,
  },
  {
    id: 'override-hi',
    pattern:
      /(?:पिछले|पिछली|पूर्व|उपरोक्त|सभी)[^\n।]{0,14}?(?:निर्देश|निर्देशों|आदेश|आदेशों|नियमों)[^\n।]{0,8}?(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)/g,
  },
  { id: 'override-th', pattern: /(?:ละเว้น|เพิกเฉย|ไม่ต้องสนใจ|ลืม)[^\n]{0,14}?(?:คำสั่ง|คำแนะนำ|ข้อความ)/g },
  {
    id: 'override-el',
    pattern:
      /(?:αγνόησε|αγνοήστε|αγνοησε|ξέχασε|ξεχάστε)[^\n.]{0,14}?(?:οδηγίες|οδηγιες|εντολές|εντολες|κανόνες)/gi,
  },
];
