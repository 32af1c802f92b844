import type { OtherLanguage } from "./texts.ts";

/** Held-out languages: their results did not influence any choice. */
export const FRESH_LANGUAGES: readonly OtherLanguage[] = [
  {
    code: "af",
    voice: "af",
    sentences: [
      "Die bakkery op die hoek maak vroeg oop en dit ruik na vars brood.",
      "My buurvrou het haar sleutels verloor en moes buite wag.",
      "As dit môre nie reën nie, gaan ons in die bos stap.",
      "Die onderwyser het die leerlinge gevra om 'n brief te skryf.",
      "Niemand het geweet hoekom die ligte uitgegaan het nie.",
    ],
  },
  {
    code: "az",
    voice: "az",
    sentences: [
      "Küncdəki çörəkxana tez açılır və təzə çörək iyi gəlir.",
      "Qonşum açarlarını itirdi və küçədə gözləməli oldu.",
      "Sabah yağış yağmasa, meşədə gəzməyə gedəcəyik.",
      "Müəllim şagirdlərdən məktub yazmağı xahiş etdi.",
      "Heç kim işıqların niyə söndüyünü bilmirdi.",
    ],
  },
  {
    code: "bn",
    voice: "bn",
    sentences: [
      "মোড়ের দোকানটা সকালে তাড়াতাড়ি খোলে আর সেখানে গরম রুটি পাওয়া যায়।",
      "আমার প্রতিবেশী চাবি হারিয়ে রাস্তায় অপেক্ষা করছিলেন।",
      "কাল বৃষ্টি না হলে আমরা বনে হাঁটতে যাব।",
      "শিক্ষক ছাত্রদের একটা চিঠি লিখতে বললেন।",
      "আলো কেন নিভে গেল তা কেউ জানত না।",
    ],
  },
  {
    code: "cy",
    voice: "cy",
    sentences: [
      "Mae'r siop fara ar y gornel yn agor yn gynnar.",
      "Collodd fy nghymydog ei hallweddi ac arhosodd yn y stryd.",
      "Os na fydd hi'n bwrw glaw yfory, byddwn ni'n cerdded yn y goedwig.",
      "Gofynnodd yr athro i'r plant ysgrifennu llythyr.",
      "Doedd neb yn gwybod pam aeth y golau allan.",
    ],
  },
  {
    code: "eu",
    voice: "eu",
    sentences: [
      "Izkinako okindegia goiz irekitzen da eta ogi berriaren usaina du.",
      "Nire bizilagunak giltzak galdu zituen eta kalean itxaron zuen.",
      "Bihar euririk egiten ez badu, basora joango gara.",
      "Irakasleak gutun bat idazteko eskatu zien ikasleei.",
      "Inork ez zekien zergatik itzali ziren argiak.",
    ],
  },
  {
    code: "lv",
    voice: "lv",
    sentences: [
      "Maizes ceptuve uz stūra atveras agri un smaržo pēc svaigas maizes.",
      "Mana kaimiņiene pazaudēja atslēgas un gaidīja uz ielas.",
      "Ja rīt nelīs, mēs iesim pastaigāties pa mežu.",
      "Skolotājs lūdza skolēnus uzrakstīt vēstuli.",
      "Neviens nezināja, kāpēc nodzisa gaismas.",
    ],
  },
  {
    code: "sl",
    voice: "sl",
    sentences: [
      "Pekarna na vogalu se odpre zgodaj in diši po svežem kruhu.",
      "Moja soseda je izgubila ključe in je čakala na ulici.",
      "Če jutri ne bo deževalo, bomo šli na sprehod v gozd.",
      "Učitelj je prosil učence, naj napišejo pismo.",
      "Nihče ni vedel, zakaj so luči ugasnile.",
    ],
  },
  {
    code: "sq",
    voice: "sq",
    sentences: [
      "Furra në qoshe hapet herët dhe vjen era bukë e freskët.",
      "Fqinja ime humbi çelësat dhe priti në rrugë.",
      "Nëse nesër nuk bie shi, do të shkojmë për shëtitje në pyll.",
      "Mësuesi u kërkoi nxënësve të shkruanin një letër.",
      "Askush nuk e dinte pse u fikën dritat.",
    ],
  },
  {
    code: "ta",
    voice: "ta",
    sentences: [
      "மூலையில் உள்ள கடை காலையில் சீக்கிரம் திறக்கும்.",
      "என் பக்கத்து வீட்டுக்காரர் சாவியைத் தொலைத்துவிட்டு தெருவில் காத்திருந்தார்.",
      "நாளை மழை பெய்யவில்லை என்றால் நாம் காட்டுக்குப் போவோம்.",
      "ஆசிரியர் மாணவர்களிடம் ஒரு கடிதம் எழுதச் சொன்னார்.",
      "விளக்குகள் ஏன் அணைந்தன என்று யாருக்கும் தெரியவில்லை.",
    ],
  },
  {
    code: "ur",
    voice: "ur",
    sentences: [
      "کونے کی دکان صبح جلدی کھلتی ہے اور وہاں تازہ روٹی ملتی ہے۔",
      "میری پڑوسن کی چابی کھو گئی اور اسے باہر انتظار کرنا پڑا۔",
      "اگر کل بارش نہ ہوئی تو ہم جنگل میں گھومنے جائیں گے۔",
      "استاد نے بچوں سے ایک خط لکھنے کو کہا۔",
      "کسی کو نہیں معلوم تھا کہ بتی کیوں چلی گئی۔",
    ],
  },
];
