import { joinWords } from "@subtext/captions/script";
import { renderText } from "@subtext/captions/text";
import { normalizeWords } from "@subtext/captions/words";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { TranscriptWordsView } from "../../src/admin/contract/video-detail.ts";
import { transcriptWords } from "../../src/admin/videos/transcript-words.ts";

const word = fc.constantFrom("Hello,", "world.", "東京", "で", "12", "สวัสดี", "مرحبا", "so", "Yes!");
const spoken = fc
  .array(
    fc.record({ word, pause: fc.integer({ min: 0, max: 6000 }), lasts: fc.integer({ min: 0, max: 900 }) }),
    {
      maxLength: 300,
    },
  )
  .map((words) => {
    let at = 0;
    const timed = words.map(({ word, pause, lasts }) => {
      const start = at + pause;
      at = start + lasts;
      return { word, start: start / 1000, end: at / 1000 };
    });
    return normalizeWords(timed, at / 1000);
  });

function textOf(view: TranscriptWordsView): string[] {
  return view.paragraphs.map((from, index) => view.words.slice(from, view.paragraphs[index + 1]).join(""));
}

test("the columns hold every word, its times to the millisecond and its confidence", () => {
  fc.assert(
    fc.property(spoken, (words) => {
      const confidences = words.map((_, index) => (index % 3 === 0 ? null : 0.5));
      const view = transcriptWords(words, { language: "en", confidences });
      let clock = 0;
      const read = view.words.map((text, index) => {
        const start = clock + view.pauses[index]!;
        clock = start + view.durations[index]!;
        expect(Math.min(view.pauses[index]!, view.durations[index]!)).toBeGreaterThanOrEqual(0);
        return { word: text.trimStart(), start: start / 1000, end: clock / 1000 };
      });
      expect(read).toEqual(words.map(({ word, start, end }) => ({ word, start, end })));
      expect(view.confidences).toEqual(confidences.map((value) => value && 50));
    }),
  );
});

test("paragraphs match the text of the recording, and break wherever the plain text does", () => {
  fc.assert(
    fc.property(spoken, (words) => {
      const view = transcriptWords(words, { language: "en", confidences: null });
      expect(view.paragraphs).toEqual([...new Set(view.paragraphs)].toSorted((a, b) => a - b));
      for (const [index, from] of view.paragraphs.entries()) {
        expect(textOf(view)[index]).toBe(joinWords(words.slice(from, view.paragraphs[index + 1])));
      }
      const lines = renderText(words).trimEnd();
      const glued = (text: string) => text.replaceAll(/\s/g, "");
      expect(glued(textOf(view).join(""))).toBe(glued(lines));
      expect(view.paragraphs.length).toBeGreaterThanOrEqual(
        words.length === 0 ? 0 : lines.split("\n\n").length,
      );
    }),
  );
});

test("a paragraph ends with a sentence if nobody pauses, and has a maximum length", () => {
  const monologue = (text: string) =>
    Array.from({ length: 1000 }, (_, i) => ({ word: text, start: i / 2, end: (i + 1) / 2 }));
  const lengths = ({ paragraphs }: TranscriptWordsView) =>
    paragraphs.map((from, index) => (paragraphs[index + 1] ?? 1000) - from);
  const sentences = monologue("on").map((word, i) => (i % 25 === 24 ? { ...word, word: "end." } : word));
  const spokenOn = transcriptWords(sentences, { language: "en", confidences: null });
  expect(spokenOn.paragraphs.slice(1).every((from) => spokenOn.words[from - 1] === " end.")).toBe(true);
  expect(Math.max(...lengths(spokenOn))).toBeLessThan(100);
  const breathless = transcriptWords(monologue("on"), { language: "en", confidences: null });
  expect(Math.max(...lengths(breathless))).toBeLessThanOrEqual(200);
});

test("without words there are no paragraphs", () => {
  expect(transcriptWords([], { language: "zxx", confidences: [] })).toEqual({
    language: "zxx",
    words: [],
    pauses: [],
    durations: [],
    confidences: [],
    paragraphs: [],
    speakers: null,
    channels: null,
  });
});

test("a paragraph begins where the speaker changes, and has the speaker's name", () => {
  const words = ["One", "two", "three"].map((word, index) => ({
    word,
    start: index,
    end: index + 1,
    speaker: index < 2 ? "Ada" : null,
  }));
  expect(transcriptWords(words, { language: "en", confidences: null })).toMatchObject({
    paragraphs: [0, 2],
    speakers: ["Ada", null],
  });
});
