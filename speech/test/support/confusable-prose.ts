/** Prose in languages that text identification has confused with similar ones, and the code that it should report. */
export const CONFUSABLE_PROSE: readonly { name: string; language: string; text: string }[] = [
  {
    name: "Galician",
    language: "gl",
    text: "Bos días, chámome Uxía e traballo na biblioteca da cidade. A maioría da xente vén pola tarde para ler o xornal na sala do segundo andar. Tamén prestamos bicicletas e ferramentas, e os sábados os nenos aprenden a pintar.",
  },
  {
    name: "Occitan",
    language: "und",
    text: "Bonjorn, me disi Aimada e trabalhi a la bibliotèca de la vila. La màger part del mond ven lo ser per legir lo jornal dins la sala del segond estanci. Prestam tanben de bicicletas e d'espleches, e lo dissabte los enfants aprenon a pintrar.",
  },
  {
    name: "Kazakh",
    language: "kk",
    text: "Қайырлы таң, менің атым Айгүл, мен қалалық кітапханада жұмыс істеймін. Адамдардың көбі түстен кейін екінші қабаттағы залда газет оқуға келеді. Біз велосипедтер мен құралдарды да береміз, ал сенбі күндері балалар сурет салуды үйренеді.",
  },
  {
    name: "Macedonian",
    language: "mk",
    text: "Добро утро, се викам Ана Петровска и работам во градската библиотека. Повеќето луѓе доаѓаат попладне за да читаат весник во салата на вториот кат. Позајмуваме и велосипеди и алат, а во сабота децата учат да сликаат.",
  },
  {
    name: "Mongolian",
    language: "mn",
    text: "Өглөөний мэнд, намайг Болормаа гэдэг, би хотын номын санд ажилладаг. Ихэнх хүмүүс үдээс хойш хоёр давхрын танхимд сонин уншихаар ирдэг. Бид бас унадаг дугуй, багаж хэрэгсэл түрээслүүлдэг бөгөөд бямба гарагт хүүхдүүд зураг зурж сурдаг.",
  },
  {
    name: "Tajik",
    language: "tg",
    text: "Субҳ ба хайр, номи ман Зарина аст ва ман дар китобхонаи шаҳр кор мекунам. Бисёр одамон баъд аз нисфирӯзӣ барои хондани рӯзнома ба толори ошёнаи дуюм меоянд. Мо инчунин велосипед ва асбобҳо медиҳем ва рӯзи шанбе кӯдакон расмкаширо меомӯзанд.",
  },
  {
    name: "Uzbek in Cyrillic",
    language: "uz",
    text: "Хайрли тонг, менинг исмим Дилноза ва мен шаҳар кутубхонасида ишлайман. Кўпчилик одамлар тушдан кейин иккинчи қаватдаги залда газета ўқиш учун келади. Биз велосипед ва асбобларни ҳам берамиз, шанба кунлари эса болалар расм чизишни ўрганади.",
  },
  {
    name: "Nepali",
    language: "ne",
    text: "शुभ प्रभात, मेरो नाम सीता श्रेष्ठ हो र म सहरको पुस्तकालयमा काम गर्छु। धेरैजसो मानिसहरू दिउँसो दोस्रो तलाको कोठामा पत्रिका पढ्न आउँछन्। हामी साइकल र औजारहरू पनि दिन्छौं, र शनिबार केटाकेटीहरूले चित्र बनाउन सिक्छन्।",
  },
  {
    name: "Afrikaans",
    language: "af",
    text: "Goeiemôre, my naam is Annelie en ek werk by die stad se biblioteek. Die meeste mense kom in die middag om die koerant in die saal op die tweede verdieping te lees. Ons leen ook fietse en gereedskap uit, en op Saterdae leer die kinders om te verf.",
  },
  {
    name: "Luxembourgish",
    language: "lb",
    text: "Gudde Moien, ech heeschen Anna a schaffen an der Bibliothéik vun der Stad. Déi meescht Leit kommen nomëttes fir d'Zeitung am Sall um zweete Stack ze liesen. Mir léinen och Vëloen an Handwierksgeschir aus, a samschdes léieren d'Kanner molen.",
  },
  {
    name: "Pashto",
    language: "ps",
    text: "سهار مو پخير، زما نوم زرغونه دی او زه د ښار په کتابتون کې کار کوم. ډېر خلک د غرمې وروسته راځي چې په دويم پوړ کې ورځپاڼه ولولي. موږ بايسکلونه او وسايل هم پور ورکوو، او د شنبې په ورځ ماشومان انځورګري زده کوي.",
  },
  {
    name: "Sindhi",
    language: "sd",
    text: "صبح جو سلام، منهنجو نالو زينب آهي ۽ مان شهر جي لائبريري ۾ ڪم ڪندي آهيان. گهڻا ماڻهو منجهند کان پوءِ ٻي ماڙ جي ڪمري ۾ اخبار پڙهڻ لاءِ ايندا آهن. اسان سائيڪلون ۽ اوزار به ڏيندا آهيون، ۽ ڇنڇر ڏينهن ٻار تصويرون ٺاهڻ سکندا آهن.",
  },
  {
    name: "Yiddish",
    language: "yi",
    text: "גוט מאָרגן, מײַן נאָמען איז רבֿקה און איך אַרבעט אין דער שטאָטישער ביבליאָטעק. די מערסטע מענטשן קומען נאָך מיטאָג צו לייענען די צײַטונג אינעם זאַל אויפֿן צווייטן שטאָק. מיר לײַען אויך ראָווערן, און שבת לערנען זיך די קינדער מאָלן.",
  },
  {
    name: "Assamese",
    language: "as",
    text: "সুপ্ৰভাত, মোৰ নাম ৰীতা আৰু মই চহৰৰ পুথিভঁৰালত কাম কৰোঁ। বেছিভাগ মানুহ আবেলি দ্বিতীয় মহলাৰ কোঠাত বাতৰি কাকত পঢ়িবলৈ আহে। আমি চাইকেল আৰু সঁজুলিও দিওঁ, আৰু শনিবাৰে ল'ৰা-ছোৱালীয়ে ছবি আঁকিবলৈ শিকে।",
  },
  {
    name: "Bashkir",
    language: "ba",
    text: "Хәйерле иртә, минең исемем Гөлнара, мин ҡала китапханаһында эшләйем. Кешеләрҙең күбеһе төштән һуң икенсе ҡаттағы залда гәзит уҡырға килә. Беҙ велосипедтар һәм ҡоралдар ҙа бирәбеҙ, ә шәмбе көндәрендә балалар һүрәт төшөрөргә өйрәнә.",
  },
  {
    name: "Breton",
    language: "br",
    text: "Demat deoc'h, Anna eo ma anv hag emaon o labourat e levraoueg kêr. An darn vrasañ eus an dud a zeu goude merenn evit lenn ar gazetenn er sal en eil estaj. Prestañ a reomp marc'hoù-houarn ivez, ha d'ar Sadorn e tesk ar vugale livañ.",
  },
  {
    name: "Faroese",
    language: "fo",
    text: "Góðan morgun, eg eiti Anna Joensen og eg arbeiði á bókasavninum í býnum. Tey flestu koma seinnapartin fyri at lesa blaðið í salinum á aðru hædd. Vit lána eisini súkklur og amboð út, og leygardagar læra børnini at mála.",
  },
  {
    name: "Turkmen",
    language: "tk",
    text: "Ertiriňiz haýyrly bolsun, meniň adym Aýgül we men şäher kitaphanasynda işleýärin. Adamlaryň köpüsi günortandan soň ikinji gatdaky zalda gazet okamak üçin gelýär. Biz welosipedleri we gurallary hem berýäris, şenbe günleri bolsa çagalar surat çekmegi öwrenýärler.",
  },
  {
    name: "Yoruba",
    language: "yo",
    text: "Ẹ káàárọ̀, orúkọ mi ni Adé, mo sì ń ṣiṣẹ́ ní ilé ìkàwé ìlú. Ọ̀pọ̀ ènìyàn máa ń wá ní ọ̀sán láti ka ìwé ìròyìn nínú yàrá òkè. A tún máa ń yá àwọn ènìyàn ní kẹ̀kẹ́, àwọn ọmọdé sì máa ń kọ́ bí a ṣe ń ya àwòrán ní ọjọ́ Àbámẹ́ta.",
  },
  {
    name: "Cantonese",
    language: "yue",
    text: "早晨，我叫陳大文，喺市圖書館做嘢。大部分人都係下晝嚟二樓閱覽室睇報紙嘅，嗰度又靜又暖。我哋仲會借單車同工具俾人，星期六啲細路就嚟學畫畫。",
  },
  {
    name: "Nynorsk",
    language: "no",
    text: "God morgon, eg heiter Anna Hansen og eg arbeider på biblioteket i byen. Dei fleste kjem om ettermiddagen for å lesa avisa i salen i andre høgda. Vi låner òg ut syklar og verktøy, og på laurdagar lærer borna å måla.",
  },
  {
    name: "Welsh",
    language: "cy",
    text: "Bore da, fy enw i yw Anwen Jones ac rydw i'n gweithio yn llyfrgell y ddinas. Mae'r rhan fwyaf o bobl yn dod yn y prynhawn i ddarllen y papur newydd yn yr ystafell ar yr ail lawr. Rydym hefyd yn benthyg beiciau, ac ar ddydd Sadwrn mae'r plant yn dysgu peintio.",
  },
  {
    name: "Lingala",
    language: "und",
    text: "Mbote na bino, nkombo na ngai Marie mpe nasalaka na ndako ya babuku ya engumba. Bato mingi bayaka na mpokwa mpo na kotanga zulunalo na eteyelo ya likolo. Todefisaka mpe bavelo, mpe mokolo ya mposo bana bayekolaka kosala bililingi.",
  },
  {
    name: "Malay",
    language: "und",
    text: "Selamat pagi, nama saya Aminah dan saya bekerja di perpustakaan bandar. Kebanyakan orang datang pada waktu petang untuk membaca surat khabar di bilik tingkat dua. Kami juga meminjamkan basikal dan peralatan, dan pada hari Sabtu kanak-kanak belajar melukis.",
  },
  {
    name: "Croatian",
    language: "und",
    text: "Dobro jutro, zovem se Ana Horvat i radim u gradskoj knjižnici. Većina ljudi dolazi poslijepodne kako bi čitala novine u dvorani na drugom katu. Posuđujemo i bicikle i alat, a subotom djeca uče slikati.",
  },
  {
    name: "Bosnian",
    language: "und",
    text: "Dobro jutro, zovem se Amra Hodžić i radim u gradskoj biblioteci. Većina ljudi dolazi poslije podne da čita novine u sali na drugom spratu. Posuđujemo i bicikla i alat, a subotom djeca uče slikati.",
  },
  {
    name: "Serbian in Latin",
    language: "und",
    text: "Dobro jutro, zovem se Ana Jovanović i radim u gradskoj biblioteci. Većina ljudi dolazi posle podne da čita novine u sali na drugom spratu. Pozajmljujemo i bicikle i alat, a subotom deca uče da slikaju.",
  },
  {
    name: "Sanskrit",
    language: "und",
    text: "सुप्रभातम्, मम नाम गौरी अस्ति। अहं नगरस्य पुस्तकालये कार्यं करोमि। बहवः जनाः अपराह्णे द्वितीये तले वृत्तपत्रं पठितुम् आगच्छन्ति। वयं द्विचक्रिकाः अपि दद्मः, शनिवासरे च बालकाः चित्रं लेखितुं शिक्षन्ते।",
  },
  {
    name: "Tatar",
    language: "und",
    text: "Хәерле иртә, минем исемем Гөлнара, мин шәһәр китапханәсендә эшлим. Кешеләрнең күбесе төштән соң икенче каттагы залда газета укырга килә. Без велосипедлар һәм кораллар да бирәбез, ә шимбә көннәрендә балалар рәсем ясарга өйрәнә.",
  },
];
