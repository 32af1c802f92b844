/**
 * Ordinary prose with a name and numbers, about half a minute of speech. Filters of recognition results must keep it.
 * Keys are ISO 639-1 codes.
 */
export const PROSE: Readonly<Record<string, { script: string; text: string }>> = {
  en: {
    script: "Latin",
    text: "Good morning, my name is Anna Weber and I work at the city library. In 2019 we had 340 visitors a day, and now there are almost 900. Most of them come for the reading room on the second floor, where it is quiet and warm. We also lend bicycles, tools and cameras, and on Saturdays children build small boats in the garden.",
  },
  es: {
    script: "Latin",
    text: "Buenos días, me llamo Lucía Ortega y trabajo en la biblioteca municipal. En 2019 teníamos 340 visitantes al día y ahora son casi 900. La mayoría viene por la sala de lectura del segundo piso, donde hay silencio y hace calor. También prestamos bicicletas, herramientas y cámaras, y los sábados los niños construyen barcos.",
  },
  pt: {
    script: "Latin",
    text: "Bom dia, meu nome é João Pereira e trabalho na biblioteca da cidade. Em 2019 recebíamos 340 visitantes por dia e agora são quase 900. A maioria vem por causa da sala de leitura no segundo andar, onde há silêncio. Também emprestamos bicicletas, ferramentas e câmeras, e aos sábados as crianças constroem barquinhos.",
  },
  fr: {
    script: "Latin",
    text: "Bonjour, je m'appelle Claire Dubois et je travaille à la bibliothèque municipale. En 2019, nous avions 340 visiteurs par jour, et maintenant ils sont presque 900. La plupart viennent pour la salle de lecture au deuxième étage, où il fait chaud. Nous prêtons aussi des vélos, des outils et des appareils photo.",
  },
  de: {
    script: "Latin",
    text: "Guten Morgen, ich heiße Anna Weber und arbeite in der Stadtbibliothek. Im Jahr 2019 hatten wir 340 Besucher am Tag, und jetzt sind es fast 900. Die meisten kommen wegen des Lesesaals im zweiten Stock, wo es ruhig und warm ist. Wir verleihen auch Fahrräder, Werkzeug und Kameras, und samstags bauen Kinder kleine Boote.",
  },
  pl: {
    script: "Latin",
    text: "Dzień dobry, nazywam się Anna Kowalska i pracuję w bibliotece miejskiej. W 2019 roku mieliśmy 340 gości dziennie, a teraz jest ich prawie 900. Większość przychodzi do czytelni na drugim piętrze, gdzie jest cicho i ciepło. Wypożyczamy też rowery, narzędzia i aparaty, a w soboty dzieci budują w ogrodzie łódki.",
  },
  fi: {
    script: "Latin",
    text: "Hyvää huomenta, nimeni on Aino Virtanen ja työskentelen kaupunginkirjastossa. Vuonna 2019 meillä oli 340 kävijää päivässä, ja nyt heitä on melkein 900. Useimmat tulevat toisen kerroksen lukusaliin, jossa on hiljaista ja lämmintä. Lainaamme myös polkupyöriä, työkaluja ja kameroita.",
  },
  tr: {
    script: "Latin",
    text: "Günaydın, benim adım Ayşe Demir ve şehir kütüphanesinde çalışıyorum. 2019 yılında günde 340 ziyaretçimiz vardı, şimdi ise neredeyse 900 kişi geliyor. Çoğu ikinci kattaki sessiz ve sıcak okuma salonu için geliyor. Ayrıca bisiklet, alet ve fotoğraf makinesi ödünç veriyoruz, cumartesi günleri çocuklar tekne yapıyor.",
  },
  vi: {
    script: "Latin",
    text: "Chào buổi sáng, tôi tên là Nguyễn Văn An và làm việc tại thư viện thành phố. Năm 2019 chúng tôi có 340 khách mỗi ngày, và bây giờ có gần 900 người. Hầu hết đến vì phòng đọc ở tầng hai, nơi yên tĩnh và ấm áp. Chúng tôi cũng cho mượn xe đạp, dụng cụ và máy ảnh.",
  },
  id: {
    script: "Latin",
    text: "Selamat pagi, nama saya Budi Santoso dan saya bekerja di perpustakaan kota. Pada tahun 2019 ada 340 pengunjung setiap hari, dan sekarang hampir 900 orang. Kebanyakan datang untuk ruang baca di lantai dua yang tenang dan hangat. Kami juga meminjamkan sepeda, alat, dan kamera kepada warga.",
  },
  sw: {
    script: "Latin",
    text: "Habari za asubuhi, jina langu ni Amina Juma na ninafanya kazi katika maktaba ya jiji. Mwaka 2019 tulikuwa na wageni 340 kwa siku, na sasa wako karibu 900. Wengi wao huja kwa ajili ya chumba cha kusomea kwenye ghorofa ya pili, ambapo kuna utulivu. Pia tunaazima baiskeli, vifaa na kamera.",
  },
  ru: {
    script: "Cyrillic",
    text: "Доброе утро, меня зовут Анна Петрова, и я работаю в городской библиотеке. В 2019 году к нам приходило 340 посетителей в день, а теперь их почти 900. Большинство приходит в читальный зал на втором этаже, где тихо и тепло. Мы также выдаём велосипеды, инструменты и камеры, а по субботам дети строят лодки.",
  },
  uk: {
    script: "Cyrillic",
    text: "Доброго ранку, мене звати Олена Коваль, і я працюю в міській бібліотеці. У 2019 році до нас приходило 340 відвідувачів на день, а тепер їх майже 900. Більшість приходить до читальної зали на другому поверсі, де тихо й тепло. Ми також позичаємо велосипеди, інструменти та фотоапарати.",
  },
  el: {
    script: "Greek",
    text: "Καλημέρα, με λένε Μαρία Παππά και δουλεύω στη δημοτική βιβλιοθήκη. Το 2019 είχαμε 340 επισκέπτες την ημέρα και τώρα είναι σχεδόν 900. Οι περισσότεροι έρχονται για το αναγνωστήριο στον δεύτερο όροφο, όπου έχει ησυχία και ζέστη. Δανείζουμε επίσης ποδήλατα, εργαλεία και φωτογραφικές μηχανές.",
  },
  ar: {
    script: "Arabic",
    text: "صباح الخير، اسمي أحمد حسن وأعمل في مكتبة المدينة. في عام 2019 كان لدينا 340 زائرا في اليوم، والآن يقترب العدد من 900. يأتي معظمهم من أجل قاعة القراءة في الطابق الثاني حيث الهدوء والدفء. نعير أيضا الدراجات والأدوات وآلات التصوير، وفي يوم السبت يصنع الأطفال قوارب صغيرة في الحديقة.",
  },
  fa: {
    script: "Arabic",
    text: "صبح بخیر، نام من مریم احمدی است و در کتابخانه شهر کار می‌کنم. در سال 2019 روزی 340 نفر به اینجا می‌آمدند و حالا نزدیک به 900 نفر هستند. بیشتر آن‌ها برای سالن مطالعه در طبقه دوم می‌آیند که آرام و گرم است. ما دوچرخه و ابزار و دوربین هم امانت می‌دهیم.",
  },
  ur: {
    script: "Arabic",
    text: "صبح بخیر، میرا نام علی رضا ہے اور میں شہر کے کتب خانے میں کام کرتا ہوں۔ 2019 میں یہاں روزانہ 340 لوگ آتے تھے اور اب تقریباً 900 آتے ہیں۔ زیادہ تر لوگ دوسری منزل کے مطالعہ گاہ کے لیے آتے ہیں جہاں خاموشی اور گرمی ہے۔ ہم سائیکلیں، اوزار اور کیمرے بھی ادھار دیتے ہیں۔",
  },
  he: {
    script: "Hebrew",
    text: "בוקר טוב, שמי נועה לוי ואני עובדת בספרייה העירונית. בשנת 2019 היו לנו 340 מבקרים ביום, ועכשיו יש כמעט 900. רובם באים בשביל אולם הקריאה בקומה השנייה, שבו שקט וחם. אנחנו משאילים גם אופניים, כלי עבודה ומצלמות, ובשבת ילדים בונים סירות קטנות בגינה.",
  },
  hi: {
    script: "Devanagari",
    text: "सुप्रभात, मेरा नाम अनीता शर्मा है और मैं शहर के पुस्तकालय में काम करती हूँ। 2019 में हमारे यहाँ रोज़ 340 लोग आते थे और अब लगभग 900 लोग आते हैं। ज़्यादातर लोग दूसरी मंज़िल के वाचनालय के लिए आते हैं, जहाँ शांति और गर्माहट है। हम साइकिल, औज़ार और कैमरे भी उधार देते हैं, और शनिवार को बच्चे बगीचे में छोटी नावें बनाते हैं।",
  },
  mr: {
    script: "Devanagari",
    text: "सुप्रभात, माझे नाव सुनील पाटील आहे आणि मी शहराच्या ग्रंथालयात काम करतो. 2019 मध्ये दररोज 340 लोक येत असत आणि आता जवळजवळ 900 लोक येतात. बहुतेक जण दुसऱ्या मजल्यावरील वाचनालयासाठी येतात, कारण तिथे शांतता आणि ऊब असते. आम्ही सायकली, अवजारे आणि कॅमेरेही उसने देतो.",
  },
  bn: {
    script: "Bengali",
    text: "সুপ্রভাত, আমার নাম রহিম উদ্দিন এবং আমি শহরের গ্রন্থাগারে কাজ করি। 2019 সালে প্রতিদিন 340 জন পাঠক আসতেন আর এখন প্রায় 900 জন আসেন। বেশিরভাগ মানুষ দোতলার পড়ার ঘরের জন্য আসেন, কারণ সেখানে শান্ত ও উষ্ণ পরিবেশ আছে। আমরা সাইকেল, যন্ত্রপাতি আর ক্যামেরাও ধার দিই, এবং শনিবারে শিশুরা বাগানে ছোট নৌকা বানায়।",
  },
  pa: {
    script: "Gurmukhi",
    text: "ਸ਼ੁਭ ਸਵੇਰ, ਮੇਰਾ ਨਾਮ ਗੁਰਪ੍ਰੀਤ ਸਿੰਘ ਹੈ ਅਤੇ ਮੈਂ ਸ਼ਹਿਰ ਦੀ ਲਾਇਬ੍ਰੇਰੀ ਵਿੱਚ ਕੰਮ ਕਰਦਾ ਹਾਂ। 2019 ਵਿੱਚ ਰੋਜ਼ 340 ਲੋਕ ਆਉਂਦੇ ਸਨ ਅਤੇ ਹੁਣ ਲਗਭਗ 900 ਲੋਕ ਆਉਂਦੇ ਹਨ। ਬਹੁਤੇ ਲੋਕ ਦੂਜੀ ਮੰਜ਼ਿਲ ਦੇ ਪੜ੍ਹਨ ਵਾਲੇ ਕਮਰੇ ਲਈ ਆਉਂਦੇ ਹਨ, ਜਿੱਥੇ ਸ਼ਾਂਤੀ ਅਤੇ ਨਿੱਘ ਹੈ।",
  },
  gu: {
    script: "Gujarati",
    text: "સુપ્રભાત, મારું નામ મીના પટેલ છે અને હું શહેરના પુસ્તકાલયમાં કામ કરું છું. 2019 માં રોજ 340 લોકો આવતા હતા અને હવે લગભગ 900 લોકો આવે છે. મોટાભાગના લોકો બીજા માળના વાંચનખંડ માટે આવે છે, જ્યાં શાંતિ અને હૂંફ છે. અમે સાયકલ, ઓજારો અને કેમેરા પણ ઉધાર આપીએ છીએ.",
  },
  ta: {
    script: "Tamil",
    text: "காலை வணக்கம், என் பெயர் கவிதா முருகன், நான் நகர நூலகத்தில் வேலை செய்கிறேன். 2019 ஆம் ஆண்டில் ஒரு நாளைக்கு 340 பேர் வந்தார்கள், இப்போது கிட்டத்தட்ட 900 பேர் வருகிறார்கள். பெரும்பாலானோர் இரண்டாவது மாடியில் உள்ள அமைதியான வாசிப்பு அறைக்காக வருகிறார்கள். நாங்கள் மிதிவண்டிகள், கருவிகள், கேமராக்கள் ஆகியவற்றையும் கடனாகக் கொடுக்கிறோம்.",
  },
  te: {
    script: "Telugu",
    text: "శుభోదయం, నా పేరు రమేష్ రెడ్డి, నేను నగర గ్రంథాలయంలో పనిచేస్తున్నాను. 2019లో రోజుకు 340 మంది వచ్చేవారు, ఇప్పుడు దాదాపు 900 మంది వస్తున్నారు. చాలా మంది రెండవ అంతస్తులో ఉన్న పఠన మందిరం కోసం వస్తారు, అక్కడ నిశ్శబ్దంగా, వెచ్చగా ఉంటుంది. మేము సైకిళ్లు, పనిముట్లు, కెమెరాలు కూడా అరువు ఇస్తాము.",
  },
  kn: {
    script: "Kannada",
    text: "ಶುಭೋದಯ, ನನ್ನ ಹೆಸರು ಲಕ್ಷ್ಮಿ ಗೌಡ, ನಾನು ನಗರದ ಗ್ರಂಥಾಲಯದಲ್ಲಿ ಕೆಲಸ ಮಾಡುತ್ತೇನೆ. 2019ರಲ್ಲಿ ದಿನಕ್ಕೆ 340 ಜನರು ಬರುತ್ತಿದ್ದರು, ಈಗ ಸುಮಾರು 900 ಜನರು ಬರುತ್ತಾರೆ. ಹೆಚ್ಚಿನವರು ಎರಡನೇ ಮಹಡಿಯ ವಾಚನಾಲಯಕ್ಕಾಗಿ ಬರುತ್ತಾರೆ, ಅಲ್ಲಿ ಶಾಂತಿ ಮತ್ತು ಬೆಚ್ಚಗಿನ ವಾತಾವರಣವಿದೆ.",
  },
  ml: {
    script: "Malayalam",
    text: "സുപ്രഭാതം, എന്റെ പേര് ദീപ നായർ, ഞാൻ നഗരത്തിലെ ഗ്രന്ഥശാലയിൽ ജോലി ചെയ്യുന്നു. 2019ൽ ദിവസവും 340 പേർ വന്നിരുന്നു, ഇപ്പോൾ ഏകദേശം 900 പേർ വരുന്നു. മിക്കവരും രണ്ടാം നിലയിലെ വായനമുറിക്കു വേണ്ടിയാണ് വരുന്നത്, അവിടെ ശാന്തതയും ചൂടും ഉണ്ട്. ഞങ്ങൾ സൈക്കിളുകളും ഉപകരണങ്ങളും ക്യാമറകളും കടം കൊടുക്കുന്നു.",
  },
  si: {
    script: "Sinhala",
    text: "සුබ උදෑසනක්, මගේ නම නිමල් පෙරේරා, මම නගර පුස්තකාලයේ වැඩ කරනවා. 2019 දී දිනකට 340 දෙනෙක් පැමිණියා, දැන් 900 දෙනෙකුට ආසන්න පිරිසක් පැමිණෙනවා. බොහෝ දෙනෙක් එන්නේ දෙවන මහලේ කියවීම් ශාලාවට, එහි නිශ්ශබ්ද සහ උණුසුම්. අපි බයිසිකල්, මෙවලම් සහ කැමරා ද ණයට දෙනවා.",
  },
  th: {
    script: "Thai",
    text: "สวัสดีตอนเช้า ผมชื่อสมชาย ใจดี และทำงานที่ห้องสมุดประชาชนของเมือง ในปี 2019 เรามีผู้ใช้บริการวันละ 340 คน และตอนนี้มีเกือบ 900 คน คนส่วนใหญ่มาที่ห้องอ่านหนังสือบนชั้นสองเพราะเงียบและอบอุ่น เรายังให้ยืมจักรยาน เครื่องมือ และกล้องถ่ายรูป ส่วนวันเสาร์เด็กๆ จะมาต่อเรือลำเล็กในสวน",
  },
  lo: {
    script: "Lao",
    text: "ສະບາຍດີຕອນເຊົ້າ, ຂ້ອຍຊື່ ສົມພອນ ແລະ ເຮັດວຽກຢູ່ຫໍສະໝຸດຂອງເມືອງ. ໃນປີ 2019 ພວກເຮົາມີຜູ້ມາຢ້ຽມຢາມ 340 ຄົນຕໍ່ມື້ ແລະ ດຽວນີ້ມີເກືອບ 900 ຄົນ. ສ່ວນຫຼາຍມາຫ້ອງອ່ານຢູ່ຊັ້ນສອງ ເຊິ່ງງຽບ ແລະ ອົບອຸ່ນ. ພວກເຮົາຍັງໃຫ້ຢືມລົດຖີບ, ເຄື່ອງມື ແລະ ກ້ອງຖ່າຍຮູບ.",
  },
  km: {
    script: "Khmer",
    text: "អរុណសួស្តី ខ្ញុំឈ្មោះសុខា ហើយខ្ញុំធ្វើការនៅបណ្ណាល័យទីក្រុង។ ក្នុងឆ្នាំ 2019 យើងមានអ្នកមកអាន 340 នាក់ក្នុងមួយថ្ងៃ ហើយឥឡូវនេះមានជិត 900 នាក់។ ភាគច្រើនមកដើម្បីប្រើបន្ទប់អាននៅជាន់ទីពីរ ដែលស្ងប់ស្ងាត់និងកក់ក្តៅ។ យើងក៏ឱ្យខ្ចីកង់ ឧបករណ៍ និងម៉ាស៊ីនថតរូបផងដែរ។",
  },
  my: {
    script: "Myanmar",
    text: "မင်္ဂလာနံနက်ခင်းပါ၊ ကျွန်တော့်နာမည် အောင်မြင့် ဖြစ်ပြီး မြို့တော်စာကြည့်တိုက်မှာ အလုပ်လုပ်ပါတယ်။ 2019 ခုနှစ်က တစ်နေ့ကို လူ 340 လာပြီး အခု 900 နီးပါး လာကြပါတယ်။ အများစုက ဒုတိယထပ်က စာဖတ်ခန်းကို လာကြတာ ဖြစ်ပြီး အဲဒီမှာ တိတ်ဆိတ်ပြီး နွေးထွေးပါတယ်။ စက်ဘီး၊ ကိရိယာနဲ့ ကင်မရာတွေလည်း ငှားပါတယ်။",
  },
  ka: {
    script: "Georgian",
    text: "დილა მშვიდობისა, მე მქვია ნინო ბერიძე და ვმუშაობ ქალაქის ბიბლიოთეკაში. 2019 წელს დღეში 340 მკითხველი გვყავდა, ახლა კი თითქმის 900 მოდის. უმეტესობა მეორე სართულის სამკითხველო დარბაზისთვის მოდის, სადაც სიწყნარე და სითბოა. ჩვენ ასევე ვაქირავებთ ველოსიპედებს, ხელსაწყოებს და კამერებს.",
  },
  hy: {
    script: "Armenian",
    text: "Բարի լույս, իմ անունը Անի Պետրոսյան է, և ես աշխատում եմ քաղաքային գրադարանում։ 2019 թվականին օրական 340 այցելու ունեինք, իսկ հիմա գրեթե 900 մարդ է գալիս։ Մեծ մասը գալիս է երկրորդ հարկի ընթերցասրահի համար, որտեղ հանգիստ է և տաք։ Մենք նաև տալիս ենք հեծանիվներ, գործիքներ և տեսախցիկներ։",
  },
  am: {
    script: "Ethiopic",
    text: "እንደምን አደራችሁ፣ ስሜ አበበ ከበደ ነው፣ የምሠራውም በከተማው ቤተ መጻሕፍት ውስጥ ነው። በ2019 ዓመት በቀን 340 ሰዎች ይመጡ ነበር፣ አሁን ግን ወደ 900 የሚጠጉ ሰዎች ይመጣሉ። አብዛኞቹ የሚመጡት ጸጥታና ሙቀት ወዳለው በሁለተኛው ፎቅ ላይ ወደሚገኘው የንባብ ክፍል ነው። ብስክሌቶችን፣ መሣሪያዎችንና ካሜራዎችንም እናውሳለን።",
  },
  zh: {
    script: "Han",
    text: "早上好，我叫王小明，在市图书馆工作。2019年我们每天有340位读者，现在差不多有900位。大多数人是为了二楼的阅览室来的，那里又安静又暖和。我们还出借自行车、工具和照相机，星期六孩子们会在花园里造小船。冬天的时候，老人喜欢坐在窗边看报纸，下午三点有人给大家泡茶，晚上九点才关门。",
  },
  ja: {
    script: "Japanese",
    text: "おはようございます。私は田中花子と申しまして、市の図書館で働いています。2019年には一日に340人の方がいらっしゃいましたが、今ではほぼ900人になりました。ほとんどの方は二階の静かで暖かい閲覧室を目当てに来られます。自転車や工具、カメラの貸し出しも行っており、土曜日には子どもたちが庭で小さな船を作ります。",
  },
  ko: {
    script: "Hangul",
    text: "안녕하세요, 제 이름은 김민수이고 시립 도서관에서 일하고 있습니다. 2019년에는 하루에 340명이 찾아왔는데 지금은 거의 900명이 옵니다. 대부분은 조용하고 따뜻한 이층 열람실을 이용하려고 옵니다. 우리는 자전거와 공구, 카메라도 빌려주고, 토요일에는 아이들이 정원에서 작은 배를 만듭니다.",
  },
};

/** Characters that people say per second, by script. */
const CHARACTERS_PER_SECOND = { Han: 4, Japanese: 6, Hangul: 6, other: 12 };

export interface ProseSample {
  language: string;
  text: string;
  seconds: number;
}

/** For each language: the whole text, its first ten words, which contain a name, and ten words with numbers. */
export const PROSE_SAMPLES = Object.entries(PROSE).map(([language, { script, text }]) => {
  const rate =
    CHARACTERS_PER_SECOND[script as keyof typeof CHARACTERS_PER_SECOND] ?? CHARACTERS_PER_SECOND.other;
  const sample = (said: string): ProseSample => ({ language, text: said, seconds: [...said].length / rate });
  return {
    language,
    long: sample(text),
    name: sample(tenWords(language, text)),
    numbers: sample(tenWords(language, text.slice(text.indexOf("2019")))),
  };
});

/** For one language of each script: a phrase, and its repetition as in a decoding loop. */
export const PROSE_LOOPS = Object.values(
  Object.groupBy(Object.entries(PROSE), ([, { script }]) => script),
).map((languages) => {
  const [language, { text }] = languages![0]!;
  const phrase = `${[...text].slice(0, 25).join("").trim()} `;
  return { language, phrase, text: phrase.repeat(20), seconds: 29 };
});

function tenWords(language: string, text: string): string {
  const words = Array.from(new Intl.Segmenter(language, { granularity: "word" }).segment(text)).filter(
    ({ isWordLike }) => isWordLike,
  );
  const { index, segment } = words[9]!;
  return text.slice(0, index + segment.length);
}

/** Returns the text without whitespace. */
export function proseLetters(text: string): string {
  return text.replace(/\s/g, "");
}
