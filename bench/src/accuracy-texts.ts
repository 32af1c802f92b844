/** What the accuracy bench has voices say: everyday sentences of our own, without numerals in English. */

export const ENGLISH_SENTENCES = [
  "The bakery on the corner opens early, so there is always fresh bread in the morning.",
  "She forgot her keys at the office and had to wait outside for her neighbor.",
  "We planted tomatoes behind the house, but the birds found them first.",
  "Nobody knew why the lights went out in the middle of the concert.",
  "If the weather stays dry, the workers will finish the bridge before winter.",
  "My grandfather kept a small boat on the lake and taught us how to row.",
  "The new teacher asked every student to write a letter to a friend.",
  "Turn left after the hospital and you will see a yellow building.",
  "They argued about the price for an hour and then shook hands.",
  "I would rather walk than sit in traffic all afternoon.",
  "The museum has a large collection of old maps and wooden ships.",
  "Please speak slowly, because some of our guests are still learning the language.",
  "After dinner the children wanted to hear the same story again.",
  "The company is looking for a person who likes to solve difficult problems.",
  "A thin layer of snow covered the roofs, the gardens and the empty streets.",
  "He opened the window, listened for a moment, and closed it without a word.",
  "Good software should explain what went wrong and what to do about it.",
  "The doctor told him to drink more water and to get some rest.",
  "There was a strange smell in the kitchen, as if something had burned.",
  "Most people remember the first movie that made them cry.",
  "The bus was so crowded that we had to stand near the back door.",
  "You can change the color of the button in the settings of the page.",
  "Every summer the village holds a market with music and local food.",
  "It took them several weeks to repair the damage from the storm.",
  "The police asked the driver to step out of the car.",
  "Our meeting tomorrow will be short, since everybody has read the report.",
  "A good map would have saved us a great deal of trouble.",
  "The river rises quickly in spring when the snow melts in the mountains.",
  "What matters is not how fast you read, but how much you understand.",
  "They decided to sell the farm and move closer to the city.",
] as const;

/** Said by the fresh voices only. */
export const FRESH_ENGLISH_SENTENCES = [
  "The ferry leaves at seven, so we should pack our bags tonight.",
  "My brother repairs bicycles and old radios in the garage.",
  "Can you tell me which platform the next train to the airport leaves from?",
  "Half of the audience had already gone home when the band finally started to play.",
  "The recipe calls for butter, brown sugar and a pinch of salt.",
  "Scientists found that the ice is melting faster than anyone expected.",
  "Our landlord promised to fix the heating before the end of the month.",
  "It is easier to ask for help than to pretend that nothing happened.",
  "The goalkeeper jumped to the left, but the ball went the other way.",
  "A small dog followed us all the way from the beach to the hotel.",
  "Before you sign the contract, read every page of it twice.",
  "The library closes early on Friday because of the holiday.",
  "Her first novel sold more copies than all of her later books together.",
  "We could hear the thunder long before we saw any rain.",
  "Somebody left an umbrella and a pair of gloves under the table.",
  "To make a backup, choose the folder and press the green button.",
  "The judge listened to both sides and asked for another week.",
  "Farmers in the valley grow apples, pears and a little wheat.",
] as const;

export interface OtherLanguage {
  code: string;
  /** As `espeak_SetVoiceByName` knows it. */
  voice: string;
  sentences: readonly string[];
}

/** The languages whose clips set the limits of the verdict. */
export const CALIBRATION_LANGUAGES: readonly OtherLanguage[] = [
  {
    code: "es",
    voice: "es",
    sentences: [
      "La panadería de la esquina abre temprano y huele a pan recién hecho.",
      "Mi vecina perdió las llaves y tuvo que esperar en la calle.",
      "Si mañana no llueve, iremos a caminar por el monte.",
      "El profesor pidió a los alumnos que escribieran una carta.",
      "Nadie sabía por qué se apagaron las luces durante el concierto.",
      "Todos los veranos hay una fiesta con música en la plaza del pueblo.",
    ],
  },
  {
    code: "fr",
    voice: "fr",
    sentences: [
      "La boulangerie du coin ouvre tôt et sent le pain chaud.",
      "Ma voisine a perdu ses clés et a dû attendre dans la rue.",
      "S'il ne pleut pas demain, nous irons marcher dans la forêt.",
      "Le professeur a demandé aux élèves d'écrire une lettre.",
      "Personne ne savait pourquoi les lumières s'étaient éteintes.",
      "Chaque été, il y a une fête avec de la musique sur la place.",
    ],
  },
  {
    code: "de",
    voice: "de",
    sentences: [
      "Die Bäckerei an der Ecke macht früh auf und duftet nach frischem Brot.",
      "Meine Nachbarin hat ihre Schlüssel verloren und musste draußen warten.",
      "Wenn es morgen nicht regnet, gehen wir im Wald spazieren.",
      "Der Lehrer bat die Schüler, einen Brief zu schreiben.",
      "Niemand wusste, warum während des Konzerts das Licht ausging.",
      "Jeden Sommer gibt es auf dem Dorfplatz ein Fest mit Musik.",
    ],
  },
  {
    code: "nl",
    voice: "nl",
    sentences: [
      "De bakker op de hoek gaat vroeg open en het ruikt er naar vers brood.",
      "Mijn buurvrouw was haar sleutels kwijt en moest buiten wachten.",
      "Als het morgen droog blijft, gaan we wandelen in het bos.",
      "De leraar vroeg de leerlingen om een brief te schrijven.",
      "Niemand wist waarom het licht uitging tijdens het concert.",
      "Elke zomer is er een feest met muziek op het plein.",
    ],
  },
  {
    code: "sv",
    voice: "sv",
    sentences: [
      "Bageriet på hörnet öppnar tidigt och det luktar nybakat bröd.",
      "Min granne tappade sina nycklar och fick vänta på gatan.",
      "Om det inte regnar i morgon går vi en tur i skogen.",
      "Läraren bad eleverna att skriva ett brev till en vän.",
      "Ingen visste varför ljuset slocknade mitt under konserten.",
      "Varje sommar är det fest med musik på torget i byn.",
    ],
  },
  {
    code: "pl",
    voice: "pl",
    sentences: [
      "Piekarnia na rogu otwiera się wcześnie i pachnie świeżym chlebem.",
      "Moja sąsiadka zgubiła klucze i musiała czekać na ulicy.",
      "Jeśli jutro nie będzie padać, pójdziemy na spacer do lasu.",
      "Nauczyciel poprosił uczniów, żeby napisali list.",
      "Nikt nie wiedział, dlaczego zgasło światło podczas koncertu.",
      "Każdego lata na rynku odbywa się zabawa z muzyką.",
    ],
  },
  {
    code: "fi",
    voice: "fi",
    sentences: [
      "Kulman leipomo avataan aikaisin ja siellä tuoksuu tuore leipä.",
      "Naapurini hukkasi avaimensa ja joutui odottamaan kadulla.",
      "Jos huomenna ei sada, menemme kävelylle metsään.",
      "Opettaja pyysi oppilaita kirjoittamaan kirjeen ystävälle.",
      "Kukaan ei tiennyt, miksi valot sammuivat kesken konsertin.",
      "Joka kesä torilla on juhla, jossa soitetaan musiikkia.",
    ],
  },
  {
    code: "ru",
    voice: "ru",
    sentences: [
      "Пекарня на углу открывается рано, и там пахнет свежим хлебом.",
      "Моя соседка потеряла ключи и ждала на улице.",
      "Если завтра не будет дождя, мы пойдём гулять в лес.",
      "Учитель попросил учеников написать письмо другу.",
      "Никто не знал, почему во время концерта погас свет.",
      "Каждое лето на площади бывает праздник с музыкой.",
    ],
  },
  {
    code: "tr",
    voice: "tr",
    sentences: [
      "Köşedeki fırın erken açılır ve taze ekmek kokar.",
      "Komşum anahtarlarını kaybetti ve sokakta beklemek zorunda kaldı.",
      "Yarın yağmur yağmazsa ormanda yürüyüşe çıkacağız.",
      "Öğretmen öğrencilerden bir mektup yazmalarını istedi.",
      "Konser sırasında ışıkların neden söndüğünü kimse bilmiyordu.",
      "Her yaz köy meydanında müzikli bir şenlik yapılır.",
    ],
  },
  {
    code: "zh",
    voice: "cmn",
    sentences: [
      "街角的面包店很早就开门，闻起来很香。",
      "我的邻居丢了钥匙，只好在外面等。",
      "如果明天不下雨，我们就去森林里散步。",
      "老师请学生们给朋友写一封信。",
      "没有人知道音乐会上为什么突然停电了。",
      "每年夏天，广场上都有音乐和好吃的东西。",
    ],
  },
  {
    code: "hi",
    voice: "hi",
    sentences: [
      "कोने की दुकान सुबह जल्दी खुलती है और वहाँ ताज़ी रोटी मिलती है।",
      "मेरी पड़ोसन की चाबी खो गई और उसे बाहर इंतज़ार करना पड़ा।",
      "अगर कल बारिश नहीं हुई तो हम जंगल में घूमने जाएँगे।",
      "शिक्षक ने बच्चों से एक चिट्ठी लिखने को कहा।",
      "किसी को नहीं पता था कि बत्ती क्यों चली गई।",
      "हर गर्मी में गाँव में संगीत का मेला लगता है।",
    ],
  },
  {
    code: "ar",
    voice: "ar",
    sentences: [
      "المخبز في الزاوية يفتح مبكرا ورائحة الخبز طيبة.",
      "فقدت جارتي المفاتيح وانتظرت في الشارع.",
      "إذا لم ينزل المطر غدا سنذهب إلى الغابة.",
      "طلب المعلم من الطلاب أن يكتبوا رسالة.",
      "لم يعرف أحد لماذا انطفأت الأنوار.",
      "في كل صيف هناك حفل موسيقي في الساحة.",
    ],
  },
  {
    code: "id",
    voice: "id",
    sentences: [
      "Toko roti di sudut jalan buka pagi sekali dan baunya harum.",
      "Tetangga saya kehilangan kunci dan harus menunggu di luar.",
      "Kalau besok tidak hujan, kita akan berjalan di hutan.",
      "Guru meminta murid menulis surat kepada teman.",
      "Tidak ada yang tahu mengapa lampu padam saat konser.",
      "Setiap tahun ada pesta dengan musik di alun-alun desa.",
    ],
  },
  {
    code: "hu",
    voice: "hu",
    sentences: [
      "A sarki pékség korán nyit, és friss kenyér illata van.",
      "A szomszédom elvesztette a kulcsait, és az utcán várt.",
      "Ha holnap nem esik az eső, sétálni megyünk az erdőbe.",
      "A tanár megkérte a diákokat, hogy írjanak egy levelet.",
      "Senki sem tudta, miért aludtak ki a fények a koncerten.",
      "Minden nyáron zenés ünnepet tartanak a főtéren.",
    ],
  },
];

/** Nothing was fitted to these, but limits were chosen in their sight. */
export const CHECKED_LANGUAGES: readonly OtherLanguage[] = [
  {
    code: "pt",
    voice: "pt-br",
    sentences: [
      "A padaria da esquina abre cedo e cheira a pão fresco.",
      "Minha vizinha perdeu as chaves e teve de esperar na rua.",
      "Se amanhã não chover, vamos caminhar na floresta.",
      "O professor pediu aos alunos que escrevessem uma carta.",
      "Ninguém sabia por que as luzes se apagaram no concerto.",
      "Todo verão há uma festa com música na praça da cidade.",
    ],
  },
  {
    code: "it",
    voice: "it",
    sentences: [
      "Il forno all'angolo apre presto e profuma di pane appena fatto.",
      "La mia vicina ha perso le chiavi e ha dovuto aspettare in strada.",
      "Se domani non piove, andremo a camminare nel bosco.",
      "Il maestro ha chiesto agli alunni di scrivere una lettera.",
      "Nessuno sapeva perché si fossero spente le luci.",
      "Ogni estate c'è una festa con la musica in piazza.",
    ],
  },
  {
    code: "da",
    voice: "da",
    sentences: [
      "Bageren på hjørnet åbner tidligt, og der dufter af friskt brød.",
      "Min nabo mistede sine nøgler og måtte vente på gaden.",
      "Hvis det ikke regner i morgen, går vi en tur i skoven.",
      "Læreren bad eleverne om at skrive et brev til en ven.",
      "Ingen vidste, hvorfor lyset gik ud under koncerten.",
      "Hver sommer er der fest med musik på torvet.",
    ],
  },
  {
    code: "no",
    voice: "nb",
    sentences: [
      "Bakeriet på hjørnet åpner tidlig, og det lukter ferskt brød.",
      "Naboen min mistet nøklene og måtte vente på gata.",
      "Hvis det ikke regner i morgen, går vi tur i skogen.",
      "Læreren ba elevene om å skrive et brev til en venn.",
      "Ingen visste hvorfor lyset gikk under konserten.",
      "Hver sommer er det fest med musikk på torget.",
    ],
  },
  {
    code: "cs",
    voice: "cs",
    sentences: [
      "Pekárna na rohu otevírá brzy a voní tam čerstvý chléb.",
      "Moje sousedka ztratila klíče a musela čekat na ulici.",
      "Jestli zítra nebude pršet, půjdeme na procházku do lesa.",
      "Učitel požádal žáky, aby napsali dopis.",
      "Nikdo nevěděl, proč během koncertu zhasla světla.",
      "Každé léto se na náměstí koná slavnost s hudbou.",
    ],
  },
  {
    code: "ro",
    voice: "ro",
    sentences: [
      "Brutăria din colț se deschide devreme și miroase a pâine proaspătă.",
      "Vecina mea și-a pierdut cheile și a așteptat în stradă.",
      "Dacă mâine nu plouă, mergem la plimbare în pădure.",
      "Profesorul i-a rugat pe elevi să scrie o scrisoare.",
      "Nimeni nu știa de ce s-au stins luminile.",
      "În fiecare vară este o petrecere cu muzică în piață.",
    ],
  },
  {
    code: "uk",
    voice: "uk",
    sentences: [
      "Пекарня на розі відчиняється рано, і там пахне свіжим хлібом.",
      "Моя сусідка загубила ключі й чекала на вулиці.",
      "Якщо завтра не буде дощу, ми підемо гуляти до лісу.",
      "Учитель попросив учнів написати листа другові.",
      "Ніхто не знав, чому під час концерту згасло світло.",
      "Щоліта на площі буває свято з музикою.",
    ],
  },
  {
    code: "el",
    voice: "el",
    sentences: [
      "Ο φούρνος στη γωνία ανοίγει νωρίς και μυρίζει φρέσκο ψωμί.",
      "Η γειτόνισσά μου έχασε τα κλειδιά της και περίμενε στον δρόμο.",
      "Αν αύριο δεν βρέξει, θα πάμε βόλτα στο δάσος.",
      "Ο δάσκαλος ζήτησε από τα παιδιά να γράψουν ένα γράμμα.",
      "Κανείς δεν ήξερε γιατί έσβησαν τα φώτα.",
      "Κάθε καλοκαίρι γίνεται γιορτή με μουσική στην πλατεία.",
    ],
  },
  {
    code: "ja",
    voice: "ja",
    sentences: [
      "かどの パンやは あさ はやく あいて、 いい においが します。",
      "となりの ひとは かぎを なくして、 そとで まって いました。",
      "あした あめが ふらなければ、 もりへ さんぽに いきます。",
      "せんせいは せいとに てがみを かくように いいました。",
      "どうして でんきが きえたのか、 だれも しりませんでした。",
      "まいとし なつに ひろばで おんがくの まつりが あります。",
    ],
  },
  {
    code: "ko",
    voice: "ko",
    sentences: [
      "모퉁이에 있는 빵집은 일찍 문을 열고 갓 구운 빵 냄새가 납니다.",
      "제 이웃은 열쇠를 잃어버려서 밖에서 기다려야 했습니다.",
      "내일 비가 오지 않으면 우리는 숲으로 산책을 갈 것입니다.",
      "선생님은 학생들에게 편지를 쓰라고 했습니다.",
      "왜 불이 꺼졌는지 아무도 몰랐습니다.",
      "여름마다 광장에서 음악 축제가 열립니다.",
    ],
  },
  {
    code: "vi",
    voice: "vi",
    sentences: [
      "Tiệm bánh ở góc phố mở cửa sớm và có mùi bánh mới.",
      "Hàng xóm của tôi mất chìa khóa và phải đợi ở ngoài đường.",
      "Nếu ngày mai trời không mưa, chúng tôi sẽ đi dạo trong rừng.",
      "Thầy giáo bảo học sinh viết một bức thư cho bạn.",
      "Không ai biết vì sao đèn tắt giữa buổi hòa nhạc.",
      "Mỗi mùa hè có lễ hội âm nhạc ở quảng trường.",
    ],
  },
  {
    code: "sw",
    voice: "sw",
    sentences: [
      "Duka la mikate kwenye kona hufunguliwa mapema asubuhi.",
      "Jirani yangu alipoteza funguo na akasubiri barabarani.",
      "Kama mvua haitanyesha kesho, tutatembea msituni.",
      "Mwalimu aliwaomba wanafunzi waandike barua kwa rafiki.",
      "Hakuna aliyejua kwa nini taa zilizimika usiku.",
      "Kila mwaka kuna sherehe yenye muziki kijijini.",
    ],
  },
  {
    code: "fa",
    voice: "fa",
    sentences: [
      "نانوایی سر کوچه صبح زود باز می‌شود و بوی نان تازه می‌دهد.",
      "همسایه من کلیدهایش را گم کرد و در خیابان منتظر ماند.",
      "اگر فردا باران نیاید به جنگل می‌رویم.",
      "معلم از بچه‌ها خواست یک نامه بنویسند.",
      "هیچ کس نمی‌دانست چرا چراغ‌ها خاموش شدند.",
      "هر تابستان در میدان جشن موسیقی برگزار می‌شود.",
    ],
  },
  {
    code: "ca",
    voice: "ca",
    sentences: [
      "El forn de la cantonada obre d'hora i fa olor de pa calent.",
      "La meva veïna va perdre les claus i va esperar al carrer.",
      "Si demà no plou, anirem a caminar pel bosc.",
      "El mestre va demanar als alumnes que escrivissin una carta.",
      "Ningú no sabia per què es van apagar els llums.",
      "Cada estiu hi ha una festa amb música a la plaça.",
    ],
  },
];

/** Languages that nothing was chosen by or in sight of. */
export const FRESH_LANGUAGES: readonly OtherLanguage[] = [
  {
    code: "sk",
    voice: "sk",
    sentences: [
      "Pekáreň na rohu otvára skoro a vonia tam čerstvý chlieb.",
      "Moja suseda stratila kľúče a musela čakať na ulici.",
      "Ak zajtra nebude pršať, pôjdeme na prechádzku do lesa.",
      "Učiteľ požiadal žiakov, aby napísali list.",
      "Nikto nevedel, prečo zhasli svetlá počas koncertu.",
    ],
  },
  {
    code: "hr",
    voice: "hr",
    sentences: [
      "Pekara na uglu otvara se rano i miriše na svježi kruh.",
      "Moja susjeda je izgubila ključeve i morala je čekati na ulici.",
      "Ako sutra ne bude kiše, ići ćemo u šetnju šumom.",
      "Učitelj je zamolio učenike da napišu pismo.",
      "Nitko nije znao zašto su se svjetla ugasila.",
    ],
  },
  {
    code: "bg",
    voice: "bg",
    sentences: [
      "Пекарната на ъгъла отваря рано и мирише на топъл хляб.",
      "Съседката ми загуби ключовете си и чака на улицата.",
      "Ако утре не вали, ще отидем на разходка в гората.",
      "Учителят помоли учениците да напишат писмо.",
      "Никой не знаеше защо угаснаха светлините.",
    ],
  },
  {
    code: "et",
    voice: "et",
    sentences: [
      "Nurgapealne pagariäri avatakse vara ja seal lõhnab värske leib.",
      "Minu naaber kaotas võtmed ja pidi tänaval ootama.",
      "Kui homme vihma ei saja, läheme metsa jalutama.",
      "Õpetaja palus õpilastel kirjutada kirja.",
      "Keegi ei teadnud, miks tuled kustusid.",
    ],
  },
  {
    code: "lt",
    voice: "lt",
    sentences: [
      "Kepykla ant kampo atsidaro anksti ir kvepia šviežia duona.",
      "Mano kaimynė pametė raktus ir turėjo laukti gatvėje.",
      "Jei rytoj nelis, eisime pasivaikščioti į mišką.",
      "Mokytojas paprašė mokinių parašyti laišką.",
      "Niekas nežinojo, kodėl užgeso šviesos.",
    ],
  },
  {
    code: "is",
    voice: "is",
    sentences: [
      "Bakaríið á horninu opnar snemma og þar er ilmur af nýju brauði.",
      "Nágranni minn týndi lyklunum og þurfti að bíða úti á götu.",
      "Ef það rignir ekki á morgun förum við að ganga í skóginum.",
      "Kennarinn bað nemendur að skrifa bréf.",
      "Enginn vissi hvers vegna ljósin slokknuðu.",
    ],
  },
  {
    code: "ms",
    voice: "ms",
    sentences: [
      "Kedai roti di sudut jalan dibuka awal pagi dan baunya sedap.",
      "Jiran saya kehilangan kunci dan terpaksa menunggu di luar.",
      "Jika esok tidak hujan, kami akan berjalan di dalam hutan.",
      "Guru meminta murid-murid menulis surat.",
      "Tiada siapa tahu mengapa lampu terpadam.",
    ],
  },
  {
    code: "eo",
    voice: "eo",
    sentences: [
      "La bakejo ĉe la angulo malfermiĝas frue kaj odoras je freŝa pano.",
      "Mia najbarino perdis siajn ŝlosilojn kaj devis atendi sur la strato.",
      "Se morgaŭ ne pluvos, ni iros promeni en la arbaro.",
      "La instruisto petis la lernantojn skribi leteron.",
      "Neniu sciis kial la lumoj estingiĝis.",
    ],
  },
];
