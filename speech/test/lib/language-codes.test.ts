import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { languageCode } from "../../src/lib/language-codes.ts";

/** What Whisper's servers print, in the order of their share of its training. */
const WHISPER_LANGUAGES =
  "en english zh chinese de german es spanish ru russian ko korean fr french ja japanese pt portuguese " +
  "tr turkish pl polish ca catalan nl dutch ar arabic sv swedish it italian id indonesian hi hindi fi finnish " +
  "vi vietnamese he hebrew uk ukrainian el greek ms malay cs czech ro romanian da danish hu hungarian ta tamil " +
  "no norwegian th thai ur urdu hr croatian bg bulgarian lt lithuanian la latin mi maori ml malayalam cy welsh " +
  "sk slovak te telugu fa persian lv latvian bn bengali sr serbian az azerbaijani sl slovenian kn kannada " +
  "et estonian mk macedonian br breton eu basque is icelandic hy armenian ne nepali mn mongolian bs bosnian " +
  "kk kazakh sq albanian sw swahili gl galician mr marathi pa punjabi si sinhala km khmer sn shona yo yoruba " +
  "so somali af afrikaans oc occitan ka georgian be belarusian tg tajik sd sindhi gu gujarati am amharic " +
  "yi yiddish lo lao uz uzbek fo faroese ht haitian_creole ps pashto tk turkmen nn nynorsk mt maltese " +
  "sa sanskrit lb luxembourgish my myanmar bo tibetan tl tagalog mg malagasy as assamese tt tatar " +
  "haw hawaiian ln lingala ha hausa ba bashkir jv javanese su sundanese yue cantonese";
const whisperLanguages = [...WHISPER_LANGUAGES.matchAll(/(\S+) (\S+)/g)].map(
  ([, code, name]) => [code!, name!.replace("_", " ")] as const,
);

describe("a language is known by whatever a server calls it", () => {
  test("every language of Whisper, by its name in any case and by its code", () => {
    expect(whisperLanguages).toHaveLength(100);
    for (const [code, name] of whisperLanguages) {
      expect([name, languageCode(name)]).toEqual([name, code]);
      expect(languageCode(name.toUpperCase())).toBe(code);
      expect(languageCode(code)).toBe(code);
    }
  });

  for (const [written, code] of [
    ["Spanish", "es"],
    [" Castilian ", "es"],
    ["Valencian", "ca"],
    ["Flemish", "nl"],
    ["Burmese", "my"],
    ["Haitian", "ht"],
    ["Panjabi", "pa"],
    ["Mandarin", "zh"],
    ["Bangla", "bn"],
    ["Māori", "mi"],
    ["Filipino", "tl"],
    ["Norwegian Bokmål", "nb"],
    ["Chinese (Simplified)", "zh"],
    ["Portuguese (Brazil)", "pt"],
    ["pt-BR", "pt"],
    ["zh_CN", "zh"],
    ["zh-Hant-TW", "zh"],
    ["EN_us", "en"],
    ["spa", "es"],
    ["ger", "de"],
    ["deu", "de"],
    ["cmn", "zh"],
    ["fil", "tl"],
    ["ceb", "ceb"],
    ["jw", "jv"],
    ["iw", "he"],
    ["in", "id"],
  ] as const) {
    test(`"${written}" is ${code}`, () => expect(languageCode(written)).toBe(code));
  }

  for (const written of ["", "auto", "unknown", "und", "zxx", "mul", "xx", "???", "null", "x-klingon"]) {
    test(`"${written}" is no language`, () => expect(languageCode(written)).toBeNull());
  }

  test("any input results in a canonical code, or none", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."abcxyz-_()") })), (written) => {
        const code = languageCode(written);
        if (code === null) return;
        expect(code).toMatch(/^[a-z]{2,3}$/);
        expect(languageCode(code)).toBe(code);
      }),
    );
  });
});
