import type { TranscriptWordsView } from "@subtext/server/admin/contract/video-detail";
import fc from "fast-check";
import { expect, test } from "vitest";
import { computeBars, parseWaveform, speechShare } from "../src/features/video-detail/player/waveform.ts";
import {
  paragraphOf,
  parseTranscript,
  plainText,
  quote,
  textWithTimestamps,
  wordAt,
  wordAtOffset,
} from "../src/features/video-detail/transcript/transcript-model.ts";
import { TranscriptSearch } from "../src/features/video-detail/transcript/transcript-search.ts";

const spoken = fc.record({
  word: fc.string({ unit: fc.constantFrom("a", "é", "ß", "漢", "👩", "."), minLength: 1, maxLength: 4 }),
  pause: fc.nat(3000),
  duration: fc.nat(900),
  begins: fc.boolean(),
});

function toView(words: { word: string; pause: number; duration: number; begins: boolean }[]) {
  const begins = (index: number) => index === 0 || words[index]!.begins;
  return {
    language: "en",
    words: words.map(({ word }, index) => (begins(index) ? word : ` ${word}`)),
    pauses: words.map(({ pause }) => pause),
    durations: words.map(({ duration }) => duration),
    confidences: null,
    paragraphs: words.flatMap((_, index) => (begins(index) ? [index] : [])),
    speakers: null,
    channels: null,
  } satisfies TranscriptWordsView;
}

const transcripts = fc.array(spoken, { minLength: 1, maxLength: 60 }).map((words) => ({
  words,
  transcript: parseTranscript(toView(words)),
}));

test("each word is found by its offset in the paragraph's text and by its time", () => {
  fc.assert(
    fc.property(transcripts, ({ words, transcript }) => {
      let milliseconds = 0;
      words.forEach(({ word, pause, duration }, index) => {
        const paragraph = transcript.paragraphs[paragraphOf(transcript, index)]!;
        const wordIndex = index - paragraph.firstWord;
        const [from, to] = [paragraph.wordStarts[wordIndex]!, paragraph.wordEnds[wordIndex]!];
        expect(paragraph.text.slice(from, to)).toBe(word);
        expect(wordAtOffset(paragraph, from)).toBe(index);
        expect(wordAtOffset(paragraph, to - 1)).toBe(index);

        milliseconds += pause;
        expect(transcript.starts[index]).toBe(milliseconds / 1000);
        // If several words start at the same time, only the last one is active.
        const active = wordAt(transcript, milliseconds / 1000);
        expect(transcript.starts[active]).toBe(milliseconds / 1000);
        milliseconds += duration;
      });
    }),
  );
});

test("no word is active before the first word and during long pauses", () => {
  const transcript = parseTranscript({
    language: "en",
    words: ["One", " two"],
    pauses: [500, 2000],
    durations: [300, 300],
    confidences: null,
    paragraphs: [0],
    speakers: null,
    channels: null,
  });
  expect([0, 0.5, 0.85, 1.5, 2.79, 2.8, 3.15, 9].map((seconds) => wordAt(transcript, seconds))).toEqual([
    -1, 0, 0, -1, -1, 1, 1, -1,
  ]);
});

test("a match equals the query except for case and diacritics", () => {
  const plain = (text: string) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  fc.assert(
    fc.property(transcripts, fc.nat(), fc.integer({ min: 1, max: 6 }), ({ transcript }, at, length) => {
      const { paragraphs } = transcript;
      const { text } = paragraphs[at % paragraphs.length]!;
      const letters = [...text];
      const wanted = letters
        .slice(at % letters.length, (at % letters.length) + length)
        .join("")
        .trim();
      const matches = new TranscriptSearch(paragraphs).find(wanted.toUpperCase());
      if (wanted === "" || wanted.includes("ß")) return;
      expect(matches.length).toBeGreaterThan(0);
      for (const { paragraph, from, to } of matches) {
        expect(plain(paragraphs[paragraph]!.text.slice(from, to))).toBe(plain(wanted));
      }
    }),
  );
});

test.each([
  ["cafe", "Un café, two CAFÉS", ["café", "CAFÉ"]],
  ["ÉTÉ", "l'e\u0301te\u0301 ete", ["e\u0301te\u0301", "ete"]],
  ["كتب", "كَتَبَ الولد", ["كَتَبَ"]],
  ["字幕", "これは字幕です", ["字幕"]],
  ["istanbul", "İstanbul", ["İstanbul"]],
  ["ΟΔΟΣ", "οδός", ["οδός"]],
  // Vowel signs and voicing marks distinguish letters.
  ["की", "का कि की", ["की"]],
  ["か", "がか\u304b\u3099", ["か"]],
  ["が", "か\u304b\u3099", ["\u304b\u3099"]],
  ["가", "각가", ["가"]],
  // Characters that stand for several others.
  [".", "100… .", ["…", "."]],
  ["af", "aﬁ", ["aﬁ"]],
  ["(", "🄐", ["🄐"]],
  ["(.*)", "a (.*) b", ["(.*)"]],
])("%s is found in %s", (wanted, text, found) => {
  const search = new TranscriptSearch([
    {
      text,
      firstWord: 0,
      wordStarts: new Uint32Array(),
      wordEnds: new Uint32Array(),
      start: 0,
      speaker: null,
    },
  ]);
  expect(search.find(wanted).map(({ from, to }) => text.slice(from, to))).toEqual(found);
});

test("a selection is copied with its time range, a whole transcript with the time of each paragraph", () => {
  const transcript = parseTranscript({
    language: "en",
    words: ["One", " two", " three.", "Four", " five."],
    pauses: [1000, 0, 0, 60_000, 0],
    durations: [1000, 1000, 1000, 1000, 1000],
    confidences: null,
    paragraphs: [0, 3],
    speakers: ["Ada", null],
    channels: null,
  });
  expect(quote(transcript, { first: 1, last: 3 })).toBe("[0:02–1:05] two three.\n\nFour");
  expect(quote(transcript, { first: 4, last: 4 })).toBe("[1:05–1:06] five.");
  expect(textWithTimestamps(transcript)).toBe("[0:01] Ada: One two three.\n\n[1:04] Four five.");
});

test("an unnamed speaker is called by the channel", () => {
  const transcript = parseTranscript({
    language: "en",
    words: ["Hello?", "Hi.", "Good."],
    pauses: [1000, 0, 0],
    durations: [1000, 1000, 1000],
    confidences: null,
    paragraphs: [0, 1, 2],
    speakers: ["Ada", null, null],
    channels: [1, 2, 2],
  });
  expect(plainText(transcript)).toBe("Ada: Hello?\n\nChannel 2: Hi.\n\nGood.");
});

test("the waveform's bars show every peak and whether it is speech", () => {
  const peaks = Buffer.from([0, 10, 200, 20, 0, 0, 0, 100, 0, 0]).toString("base64");
  const waveform = parseWaveform({
    duration: 10,
    peaksPerSecond: 1,
    peaks,
    speech: [
      [1, 4],
      [6, 8],
    ],
  });
  expect(computeBars(waveform, 5)).toEqual([
    { height: 0.05, isSpeech: true },
    { height: 1, isSpeech: true },
    { height: 0, isSpeech: false },
    { height: 0.5, isSpeech: true },
    { height: 0, isSpeech: false },
  ]);
  expect(speechShare(waveform)).toEqual({ share: 0.5, pauses: 1 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), (count) => {
      const bars = computeBars(waveform, count);
      expect(bars.length).toBe(count);
      expect(Math.max(...bars.map(({ height }) => height))).toBe(1);
    }),
  );
});
