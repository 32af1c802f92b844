import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeChannels } from "../../src/recognition/merge-channels.ts";
import { transcriptOf } from "../../src/recognition/recognized-speech.ts";
import type { RecognizedUtterance } from "../../src/recognition/recognized-utterance.ts";
import type { Channel, TimedWord } from "../../src/transcript.ts";

function utterance(channel: Channel, words: readonly TimedWord[], language = "en"): RecognizedUtterance {
  return {
    start: words[0]!.start,
    end: words.at(-1)!.end,
    speechSeconds: words.reduce((sum, { start, end }) => sum + end - start, 0),
    words,
    language,
    probability: 0.9,
    engine: "fake",
    channel,
  };
}

/** Words of a third of a second each. */
function speak(channel: Channel, text: string, from: number): RecognizedUtterance {
  return utterance(
    channel,
    text.split(" ").map((word, index) => ({
      word,
      start: from + index / 3,
      end: from + (index + 1) / 3,
      confidence: 1,
    })),
  );
}

const textOf = (utterances: readonly RecognizedUtterance[]) =>
  transcriptOf(utterances, 60)
    .words.map(({ word, channel }) => `${channel}${word}`)
    .join(" ");

describe("words of two channels", () => {
  test("alternate with the speakers", () => {
    const utterances = [speak(1, "how are you", 0), speak(2, "fine thanks", 2), speak(1, "good", 4)];
    expect(textOf(utterances)).toBe("1how 1are 1you 2fine 2thanks 1good");
  });

  test("of an interjection wait for a pause of the other speaker, but at most a second", () => {
    const pausing = [...speak(1, "well I", 0).words, ...speak(1, "think so", 1.2).words];
    expect(textOf([utterance(1, pausing), speak(2, "yes", 0.4)])).toBe("1well 1I 2yes 1think 1so");
    const long = speak(1, "a b c d e f g h i", 0);
    expect(textOf([long, speak(2, "yes", 0.4)])).toBe("1a 1b 1c 1d 2yes 1e 1f 1g 1h 1i");
    expect(textOf([speak(1, "a b. c d e f", 0), speak(2, "yes", 0.4)])).toBe("1a 1b. 2yes 1c 1d 1e 1f");
  });

  test("of both languages are in the segments of their languages", () => {
    const utterances = [speak(1, "how are you", 0), { ...speak(2, "muy bien", 2), language: "es" }];
    expect(transcriptOf(utterances, 60).languageSegments).toMatchObject([
      { language: "en", words: 3 },
      { language: "es", words: 2 },
    ]);
  });

  const sentences = (channel: Channel) =>
    fc
      .array(
        fc.record({
          pause: fc.integer({ min: 0, max: 1500 }),
          words: fc.array(fc.integer({ min: 40, max: 900 }), { minLength: 1, maxLength: 8 }),
        }),
        { maxLength: 6 },
      )
      .map((all) => {
        let at = 0;
        let count = 0;
        return all.map(({ pause, words }) => {
          at += pause;
          return utterance(
            channel,
            words.map((milliseconds) => {
              const start = at / 1000;
              at += milliseconds;
              return { word: `${channel}-${count++}`, start, end: at / 1000, confidence: 1 };
            }),
          );
        });
      });
  const DURATION = 50;

  test("are all there, in order, without overlaps and inside the media, each close to its time", () => {
    fc.assert(
      fc.property(sentences(1), sentences(2), (first, second) => {
        const { words } = transcriptOf([...first, ...second], DURATION);
        const spoken = [first, second].map((utterances) => utterances.flatMap((each) => each.words));
        for (const [index, said] of spoken.entries()) {
          const own = words.filter(({ channel }) => channel === index + 1);
          expect(own.map(({ word }) => word)).toEqual(said.map(({ word }) => word));
          for (const [at, { start }] of own.entries())
            expect(Math.abs(start - said[at]!.start)).toBeLessThan(2);
        }
        let free = 0;
        for (const { start, end } of words) {
          expect(start).toBeGreaterThanOrEqual(free);
          expect(end).toBeGreaterThanOrEqual(start);
          free = end;
        }
        expect(free).toBeLessThanOrEqual(DURATION);
      }),
    );
  });

  test("keep their times exactly where only one speaker speaks", () => {
    fc.assert(
      fc.property(sentences(1), (first) => {
        const alone = transcriptOf(first, DURATION).words;
        const later = speak(2, "and then", 49);
        const { words } = transcriptOf([...first, later], DURATION);
        expect(words.slice(0, alone.length)).toEqual(alone);
        const mono = transcriptOf(
          first.map(({ channel: _, ...each }) => each),
          DURATION,
        );
        expect(alone.map(({ channel: _, ...word }) => word)).toEqual(mono.words);
      }),
    );
  });

  test("belong to parts whose speech adds up to that of the utterances", () => {
    const utterances = [speak(1, "a b c d e f g h i", 0), speak(2, "yes", 0.4)];
    const parts = mergeChannels(utterances, 60);
    expect(parts.map(({ channel }) => channel)).toEqual([1, 2, 1]);
    expect(parts.reduce((sum, { speechSeconds }) => sum + speechSeconds, 0)).toBeCloseTo(10 / 3);
  });
});
