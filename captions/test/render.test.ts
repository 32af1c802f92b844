import { layOutCues } from "@subtext/captions/cues";
import { renderJson } from "@subtext/captions/json";
import { renderSrt } from "@subtext/captions/srt";
import { renderText } from "@subtext/captions/text";
import { renderVtt } from "@subtext/captions/vtt";
import { normalizeWords } from "@subtext/captions/words";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAsPlayer, parseStrictly } from "./parsers.ts";
import { brokenSpeech, language, speak, speech } from "./speech.ts";

/** Removes direction marks, which are all that the file adds to a line. */
function withoutMarks(text: string): string {
  return text.replace(/^[\u200e\u200f]/gmu, "");
}

describe("SubRip", () => {
  test("has the same captions as WebVTT, numbered and without escapes", () => {
    const words = speak(["Hello, world.", 3, "Tom & Jerry <3"], 0.75, 3599);
    expect(renderSrt(words, { language: "en" })).toBe(
      "1\n00:59:59,000 --> 01:00:00,500\nHello, world.\n\n2\n01:00:03,500 --> 01:00:06,500\nTom & Jerry <3\n",
    );
    expect(renderSrt([], { language: "zxx" })).toBe("");
  });

  test("has no blank line or other text within a caption, for any words", () => {
    fc.assert(
      fc.property(fc.oneof(speech, brokenSpeech), language, (raw, code) => {
        const words = normalizeWords(raw, 400_000);
        const captions = layOutCues(words, { language: code });
        const blocks = renderSrt(words, { language: code }).split("\n\n").filter(Boolean);
        expect(blocks.map((block) => block.trimEnd().split("\n").length)).toEqual(
          captions.map(({ lines }) => lines.length + 2),
        );
      }),
    );
  });
});

test("plain text has a paragraph for each turn of a speaker with a channel of their own", () => {
  const words = speak(["Hello?", "Hi.", "Fine."], 0.5).map((word, index) => ({
    ...word,
    channel: index === 0 ? 1 : 2,
  }));
  expect(renderText(words)).toBe("Hello?\n\nHi. Fine.\n");
  expect(renderJson(words)).not.toContain("channel");
  expect(renderVtt(words, { language: "en" })).not.toContain("<v");
});

describe("WebVTT", () => {
  test("is valid for any words", () => {
    fc.assert(
      fc.property(fc.oneof(speech, brokenSpeech), language, (raw, code) => {
        const words = normalizeWords(raw, 400_000);
        const { cues, errors } = parseStrictly(renderVtt(words, { language: code }));
        expect(errors).toEqual([]);
        const expected = layOutCues(words, { language: code });
        expect(cues.map(({ start, end, text }) => ({ start, end, text: withoutMarks(text) }))).toEqual(
          expected.map(({ start, end, lines }) => ({ start, end, text: lines.join("\n") })),
        );
      }),
    );
  });

  test("gives a player the same times and text", async () => {
    await fc.assert(
      fc.asyncProperty(speech, language, async (raw, code) => {
        const words = normalizeWords(raw, 400_000).filter((word) => word.end < 359_000);
        const cues = await parseAsPlayer(renderVtt(words, { language: code }));
        const expected = layOutCues(words, { language: code });
        expect(cues.map(({ start, end, text }) => ({ start, end, text: withoutMarks(text) }))).toEqual(
          expected.map(({ start, end, lines }) => ({ start, end, text: lines.join("\n") })),
        );
      }),
    );
  });

  test("has no cues if there are no words", () => {
    expect(renderVtt([], { language: "zxx" })).toBe("WEBVTT\n");
    expect(parseStrictly(renderVtt([], { language: "zxx" }))).toEqual({ cues: [], errors: [] });
  });

  test("has a cue for each caption, with escaped text", () => {
    const words = speak(["Hello, world.", 3, "Tom & Jerry <3"], 0.75, 3599);
    expect(renderVtt(words, { language: "en" })).toBe(
      "WEBVTT\n\n00:59:59.000 --> 01:00:00.500\nHello, world.\n\n01:00:03.500 --> 01:00:06.500\nTom &amp; Jerry &lt;3\n",
    );
  });

  test("writes times of more than 99 hours", () => {
    expect(renderVtt(speak(["Still here."], 1, 360_000), { language: "en" })).toContain(
      "100:00:00.000 --> 100:00:02.000",
    );
  });

  test.each([
    "--> -->",
    "00:00:01.000 --> 00:00:02.000",
    "<script>alert(1)</script>",
    "<b>bold</b> <00:00:00.500> <v Bob>",
    "&lrm; &amp; &#x3c; &",
    "WEBVTT",
    "NOTE this is no comment",
    "STYLE ::cue { color: red }",
    "REGION id:a",
    "12",
    "00:00:01.000",
  ])("renders malicious text literally: %s", async (text) => {
    const vtt = renderVtt(speak([text], 0.3), { language: "en" });
    const parsed = parseStrictly(vtt);
    expect(parsed.errors).toEqual([]);
    expect(parsed.cues.map((cue) => cue.text.replace("\n", " "))).toEqual([text]);
    expect((await parseAsPlayer(vtt)).map((cue) => cue.text.replace("\n", " "))).toEqual([text]);
  });

  test("removes line breaks and NUL from words that were not normalized", () => {
    const vtt = renderVtt([{ word: "a\n\nb\r\0\u2028c", start: 0, end: 1 }], { language: "en" });
    expect(parseStrictly(vtt)).toEqual({ cues: [{ start: 0, end: 1, text: "a b c" }], errors: [] });
  });

  test("adds a direction mark to lines whose first letter has the other direction", () => {
    const hebrew = renderVtt(speak(["Windows היא מערכת הפעלה."]), { language: "he" });
    expect(hebrew).toContain("\n\u200fWindows היא");
    const arabic = renderVtt(speak(["2024 كانت سنة جيدة."]), { language: "ar" });
    expect(arabic).toContain("\n2024 كانت");
    const english = renderVtt(speak(["שלום means peace."]), { language: "en" });
    expect(english).toContain("\n\u200eשלום means");
    expect(renderVtt(speak(["Plain English."]), { language: "en" })).not.toMatch(/[\u200e\u200f]/);
  });
});

describe("JSON", () => {
  test("contains only the words, one per line", () => {
    const words = [{ ...speak(["Hello"])[0]!, confidence: 0.9 }, ...speak(["“world”"], 0.5, 1)];
    expect(renderJson(words)).toBe(
      '[\n{"word":"Hello","start":0,"end":0.35},\n{"word":"“world”","start":1,"end":1.5}\n]\n',
    );
    expect(renderJson([])).toBe("[]\n");
  });

  test("parses to the same words", () => {
    fc.assert(
      fc.property(speech, (raw) => {
        const words = normalizeWords(raw, 400_000);
        expect(JSON.parse(renderJson(words))).toEqual(words);
      }),
    );
  });
});

describe("text", () => {
  test("starts a paragraph after a sentence and a pause of two seconds", () => {
    const words = speak(["First one.", 2.5, "Second one", 2.5, "goes on.", 1, "Still second."]);
    expect(renderText(words)).toBe("First one.\n\nSecond one goes on. Still second.\n");
  });

  test("starts a paragraph within a sentence only after a pause of five seconds", () => {
    expect(renderText(speak(["and then", 5, "nothing"]))).toBe("and then\n\nnothing\n");
  });

  test("is empty if there are no words", () => {
    expect(renderText([])).toBe("");
  });

  test("has no spaces in Japanese, and starts a paragraph in Thai at a pause", () => {
    expect(renderText(speak(["東京 に 行きました。 はい。"]))).toBe("東京に行きました。はい。\n");
    expect(renderText(speak(["สวัสดี ครับ", 2, "สวัสดี"]))).toBe("สวัสดีครับ\n\nสวัสดี\n");
  });

  test("contains every word once, in order", () => {
    fc.assert(
      fc.property(speech, (raw) => {
        const words = normalizeWords(raw, 400_000);
        const bare = (text: string) => text.replace(/\s/gu, "");
        expect(bare(renderText(words))).toBe(bare(words.map((word) => word.word).join("")));
      }),
    );
  });
});
