/**
 * What orders to a model are made of, in the languages they come in: the model learns from pairs of these what it has not met in the
 * same words. Beginnings of words, folded (no accents, lower case); `=` at the end stands for the end of the word.
 */
export const concepts: Readonly<Record<string, string>> = {
  drop: `ignor disregard forget forgot neglect overlook discard omit skip bypass overrid overrul circumvent evad abandon
    dismiss suspend revok waive lift= lifted disabl deactivat supersed replac erase scrap vergiss vergess missacht verwerf
    umgeh uberspring uebergeh beachte oubli neglig ecarte contourn olvid descart omit dimentic scord trascur esquec desconsider
    negeer vergeet pomin zapomn zignoruj игнор забуд отмени отбрось пренебре unut yoksay gormezden abaikan lupakan bhool bhul=
    bhulo bhulao chhod chod= hatao hata= nazarandaz tod= अनदेखा अवहेलना नज़रअंदाज नजरअंदाज भूल उपेक्षा छोड़ উপেক্ষা ভুলে
    অগ্রাহ্য quen= bo= balewal kalimut pansin hiraukan تجاهل انس= تجاوز تجاهلي 忽略 忽视 忽視 无视 無視 忘记 忘記 忘掉 绕过 跳过 取消 忘れ 무시 잊어 ละเลย
    ไม่สนใจ ลืม ignorer= glem= glom= bortse ignora uita= ігнор забудь zapomen ignoruj`,
  earlier: `previous prior= preceding above= earlier foregoing before= initial original existing former past= vorherig
    vorangegang bisherig vorig obig fruher urspr precedent anterieur anterior previ precedente poprzedni предыдущ прежн выше
    ранее изначальн eerder onceki sebelum pehle pichl purane upar= पिछल पहले पूर्व उपरोक्त ऊपर পূর্ববর্তী আগের পূর্বের truoc=
    nakaraan nauna السابق سابق أعلاه 之前 以上 先前 前面 上述 原来 以前 上記 이전 앞선 위의 ก่อนหน้า tidigare forrige попередн predchozi anterioa`,
  orders: `instruction directive command prompt rule guideline policy policies constraint restriction orders guardrail
    safeguard limitation safety anweisung instruktion befehl vorgabe regel richtlin einschrankung consigne regle ordre directiv
    instruccion indicacion orden regla directriz restriccion istruzion regol instruc regra инструкц указан правил команд приказ
    ограничен instructie opdracht polecen talimat kural instruksi aturan nirdesh niyam aadesh adesh= hidayat instructions=
    निर्देश आदेश नियम हिदायत प्रतिबंध নির্দেশ নিয়ম আদেশ huong= lenh= tagubilin utos= panuto alituntunin perintah petunjuk
    arahan تعليمات التعليمات أوامر الأوامر القواعد قواعد القيود 指令 指示 命令 规则 規則 提示 说明 說明 限制 要求 制限 ルー 지시 명령 규칙 지침 프롬프트 คำสั่ง
    instruktioner regler= інструкц pokyn instructiun reguli`,
  you: `you= your= yours yourself youre= you're= du= dein deine dich= dir= vous= votre vos= ton= tes= tu= toi= usted= tus= tuo=
    tua= tuoi= voce seu= sua= ты= твои твой тебе вы= ваш вам= jij= jouw sen= senin tum= tumhar tumko aap= aapk apni= apne=
    apna= tera= teri= tere= आप तुम अपन আপনা আপনি তোমার তুমি ikaw= iyong anda= kamu= أنت لديك الخاص 你的 您的 你是 您是 你现 あな 당신 너의 네가
    너는 คุณ ditt= dina= твої`,
  model: `ai= a.i assistant llm agent chatbot bot= gpt chatgpt claude copilot gemini sentry ki= assistent sprachmodell
    asistente assistente modelo modele ассистент модел бот= ии= एआई सहायक मॉडल الذكاء مساعد نموذج 助手 模型 人工 モデ 어시스턴트 인공지능 모델`,
  reveal: `reveal show= print= display output= repeat recit disclos leak= expos dump= list= tell= share= quote= echo= summariz
    describ verbatim zeig gib= nenn verrat wiederhol drucke montre affich revel donne= repet muestra revela imprim dime= mostra
    rivel stampa ripet mostre покажи выведи раскро повтори скажи назови перечисл pokaz goster batao bata= bataiye btao dikhao
    dikha= samjhao nikalo nikal= bolo= बताओ बताएं बताइए बता= दिखाओ दिखाएं प्रकट বলুন দেখান প্রকাশ tiet= ibunyag ipakita sabihin
    ungkap tampilkan tunjukkan beritahu bocorkan اكشف أظهر اعرض أخبر كشف 告诉 告訴 显示 顯示 透露 输出 輸出 打印 重复 泄露 展示 表示 教え 出力 明か 알려 보여 공개
    출력 แสดง บอก avslor visa= розкри ukaz= zobraz`,
  hidden: `system= systemprompt hidden internal configur setup= secretly confidential systemnachricht systeme sistema systemowy
    систем скрыт versteckt geheim cache= caches oculta interno गुप्त सिस्टम chhup gupt thong= rahasia sistem النظام 系统 系統 隐藏 隱藏
    シス 시스템 숨겨 ระบบ`,
  secret: `secret password passwd credential token= tokens= apikey api_key key= keys= ssh= private= passwort kennwort
    zugangsdaten schlussel contrasena clave= secreto senha chave парол ключ секрет haslo sifre raaz पासवर्ड कुंजी গোপন চাবি
    পাসওয়ার্ড khoa= khau= lihim sikreto susi= sandi= kunci السر سر= مفتاح المرور 密钥 密鑰 密码 密碼 秘密 机密 鍵を パス 비밀 암호 키는 키를 รหัส
    losenord hasel`,
  send: `send= sends sending forward= email mail= post= upload transmit exfiltrat transfer= submit= curl= wget= webhook deliver
    append= include= embed= sende= schick leite= envoie envoy transmet envia manda= reenvi invia= inoltr envie отправ перешли
    wyslij gonder bhej भेज পাঠা gui= kirim أرسل إرسال 发送 發送 上传 转发 送信 送っ 보내 전송 ส่ง skicka надішл posli`,
  act: `run= execute= restart delete= drop= call= invoke perform= apply= install= download= open= visit= click= read= write=
    create= update= modify= change= grant= kill= scale= stop= fuhre= losche starte execute supprim ejecut borra elimina elimine
    esegui cancella execut apag запусти выполни удали перезапусти karo= kardo chalao jalankan hapus lakukan patakbuhin نفذ احذف
    شغل 执行 執行 运行 删除 刪除 实行 実行 削除 실행 삭제 ดำเนิน utfor виконай proved= चलाओ करो=`,
  approve: `approv authoriz authoris permission confirm consent genehmig freigabe freigegeben bestatig erlaubnis autoris
    approuv aprob autoriz aprov разреш подтверд одобр ijazat anumati अनुमति izin= pahintulot موافق إذن 批准 授权 授權 许可 承認 許可 승인 허가
    อนุญาต`,
  negation: `not= never= don't= dont= without= no= cannot= nicht= ohne= nie= kein pas= sans= jamais= sin= nunca= non= senza=
    sem= не= без= никогда nahi= nahin= bina= नहीं बिना मत= jangan tanpa tidak= huwag walang khong= لا= بدون دون= 不要 没有 沒有 无需 不得
    なし ない 없이 하지 말고 ไม่ต้อง utan= inte= bez=`,
  people: `user= users user's= human operator anyone= anybody= reader nutzer benutzer niemand utilisateur personne usuario
    nadie utente пользоват pengguna gumagamit 用户 用戶 ユー 사용자 ผู้ใช้ المستخدم उपयोगकर्ता`,
  now: `now= instead= henceforth onward immediately= from= jetzt= stattdessen sofort= maintenant desormais ahora= adesso=
    agora= теперь сейчас teraz simdi ab= abhi= अब= अभी= এখন gio= ngayon sekarang الآن 现在 現在 从现 今後 これ 이제 지금 ตอนนี้ istallet
    отныне`,
  pretend: `pretend act= acting= behave roleplay role= imagine= simulat persona= character= impersonat become= rolle= spiel
    agis= joue= comporte actua= finge= imagina= agisci comportati притвор представь веди natak bano= maan= đong= kunwari
    berpura تظاهر تصرف 扮演 假装 假裝 演じ ふり 척하 역할 บทบาท`,
  mode: `mode= jailbreak jailbroken dan= unrestricted unfiltered uncensored developer debug= god= sudo= modus= modo= режим
    unlocked unlock= मोड che= وضع 模式 モー 모드 โหมด lage=`,
  authority: `administrator admin= owner= creator ceo= cto= ciso= boss= manager= engineer authority supervisor openai anthropic
    leadership vendor= официал администратор разработчик entwickler desarrollador developpeur lumikha malik= मालिक डेवलपर مطور
    مدير 管理 开发 開發 開発 관리자 개발자 pengembang tagalikha`,
  all: `all= any= every= everything= anything= entire= whole= alle= allen= alles= samtlich tout= tous= toute toutes todas=
    todos= todo= tutte= tutti= все= всех= wszystk sab= sabhi saare= sare= poora pura= सभी सब= সব সমস্ত tat= lahat semua seluruh
    جميع كل= 所有 全部 すべ 全て 모든 전부 ทั้งหมด alla= allt= усі`,
  answer: `answer= respond= reply= say= says= state= conclud report= classif mark= treat= consider= verdict resolved= healthy=
    antwort= antworte sage= sag= repond reponds responde= di= rispondi responda ответ response= responses= jawab जवाब उत्तर কহ
    উত্তর tra= sumagot أجب قل= 回答 回复 回覆 答え 답변 대답 말해 ตอบ svara`,
  urgent: `important= urgent critical= crucial mandatory attention= must= obey comply follow= wichtig dringend gehorch suis=
    obeir sigue obedec segui важно следуй zaroori jaruri जरूरी महत्वपूर्ण penting mahalaga هام عاجل 重要 紧急 緊急 必须 중요 긴급 สำคัญ
    viktigt`,
  task: `task= tasks= goal= goals= objective mission purpose= job= aufgabe ziel= tache= tarea objetivo compito tarefa задач
    kaam= काम= कार्य tugas gawain مهمة 任务 任務 目标 タス 작업 임무 งาน uppgift`,
};
