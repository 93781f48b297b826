/**
 * What orders to a model are made of, in the languages they come in: the model learns from pairs of these what it has not met in the
 * same words. Beginnings of words, folded (no accents, lower case); `=` at the end stands for the end of the word.
 */
export const concepts: Readonly<Record<string, string>> = {
  drop: `ignor disregard forget forgot neglect overlook discard omit skip bypass overrid overrul circumvent evad abandon dismiss
    suspend revok waive lift= lifted disabl deactivat supersed replac erase scrap vergiss vergess missacht verwerf umgeh uberspring
    uebergeh beachte oubli neglig ecarte contourn olvid descart omit dimentic scord trascur esquec desconsider negeer vergeet
    pomin zapomn zignoruj игнор забуд отмени отбрось пренебре unut yoksay gormezden abaikan lupakan`,
  earlier: `previous prior= preceding above= earlier foregoing before= initial original existing former past= vorherig vorangegang
    bisherig vorig obig fruher urspr precedent anterieur anterior previ precedente poprzedni предыдущ прежн выше ранее изначальн
    eerder onceki sebelum`,
  orders: `instruction directive command prompt rule guideline policy policies constraint restriction orders guardrail safeguard
    limitation safety anweisung instruktion befehl vorgabe regel richtlin einschrankung consigne regle ordre directiv instruccion
    indicacion orden regla directriz restriccion istruzion regol instruc regra инструкц указан правил команд приказ ограничен
    instructie opdracht polecen talimat kural instruksi aturan`,
  you: `you= your= yours yourself youre= you're= du= dein deine dich= dir= vous= votre vos= ton= tes= tu= toi= usted= tus= tuo= tua= tuoi= voce
    seu= sua= ты= твои твой тебе вы= ваш вам= jij= jouw sen= senin`,
  model: `ai= a.i assistant llm agent chatbot bot= gpt chatgpt claude copilot gemini sentry ki= assistent sprachmodell asistente
    assistente modelo modele ассистент модел бот= ии=`,
  reveal: `reveal show= print= display output= repeat recit disclos leak= expos dump= list= tell= share= quote= echo= summariz describ verbatim
    zeig gib= nenn verrat wiederhol drucke montre affich revel donne= repet muestra revela imprim dime= mostra rivel stampa ripet
    mostre покажи выведи раскро повтори скажи назови перечисл pokaz goster`,
  hidden: `system= systemprompt hidden internal configur setup= secretly confidential systemnachricht systeme sistema systemowy
    систем скрыт versteckt geheim cache= caches oculta interno`,
  secret: `secret password passwd credential token= tokens= apikey api_key key= keys= ssh= private= passwort kennwort zugangsdaten
    schlussel contrasena clave= secreto senha chave парол ключ секрет haslo sifre`,
  send: `send= sends sending forward= email mail= post= upload transmit exfiltrat transfer= submit= curl= wget= webhook deliver
    append= include= embed= sende= schick leite= envoie envoy transmet envia manda= reenvi invia= inoltr envie отправ перешли wyslij gonder`,
  act: `run= execute= restart delete= drop= call= invoke perform= apply= install= download= open= visit= click= read= write= create= update=
    modify= change= grant= kill= scale= stop= fuhre= losche starte execute supprim ejecut borra elimina elimine esegui cancella
    execut apag запусти выполни удали перезапусти`,
  approve: `approv authoriz authoris permission confirm consent genehmig freigabe freigegeben bestatig erlaubnis autoris approuv
    aprob autoriz aprov разреш подтверд одобр`,
  negation: `not= never= don't= dont= without= no= cannot= nicht= ohne= nie= kein pas= sans= jamais= sin= nunca= non= senza= sem= не= без= никогда`,
  people: `user= users user's= human operator anyone= anybody= reader nutzer benutzer niemand utilisateur personne usuario nadie utente пользоват`,
  now: `now= instead= henceforth onward immediately= from= jetzt= stattdessen sofort= maintenant desormais ahora= adesso= agora= теперь сейчас teraz simdi`,
  pretend: `pretend act= acting= behave roleplay role= imagine= simulat persona= character= impersonat become= rolle= spiel agis= joue= comporte
    actua= finge= imagina= agisci comportati притвор представь веди`,
  mode: `mode= jailbreak jailbroken dan= unrestricted unfiltered uncensored developer debug= god= sudo= modus= modo= режим unlocked unlock=`,
  authority: `administrator admin= owner= creator ceo= cto= ciso= boss= manager= engineer authority supervisor openai anthropic leadership
    vendor= официал администратор разработчик entwickler desarrollador developpeur`,
  all: `all= any= every= everything= anything= entire= whole= alle= allen= alles= samtlich tout= tous= toute toutes todas= todos= todo= tutte= tutti= все= всех= wszystk`,
  answer: `answer= respond= reply= say= says= state= conclud report= classif mark= treat= consider= verdict resolved= healthy= antwort= antworte
    sage= sag= repond reponds responde= di= rispondi responda ответ`,
  urgent: `important= urgent critical= crucial mandatory attention= must= obey comply follow= wichtig dringend gehorch suis= obeir sigue obedec segui важно следуй`,
  task: `task= tasks= goal= goals= objective mission purpose= job= aufgabe ziel= tache= tarea objetivo compito tarefa задач`,
};
