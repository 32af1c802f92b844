import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RecognitionResult } from "../../../src/engines/engine.ts";
import { openWhisper } from "../../../src/engines/whisper/whisper.ts";
import { wordsOfTokens } from "../../../src/engines/whisper/words-of-tokens.ts";
import { isHallucination } from "../../../src/recognition/hallucinations.ts";
import { PROSE_LOOPS, PROSE_SAMPLES, type ProseSample, proseLetters } from "../../support/prose.ts";
import { writtenBytes } from "../../support/synthetic-whisper/made-vocabulary.ts";
import { pitchOf, writeMadeWhisper } from "../../support/synthetic-whisper/made-whisper.ts";
import { WhisperVocabulary } from "../../support/whisper-vocabulary.ts";

/** As in Whisper's published models; four tokens are the prompt. */
const MAX_TOKENS = 448;
const PROMPT_TOKENS = 4;

const vocabulary = new WhisperVocabulary();
const written = (token: number) => writtenBytes(vocabulary.tokenBytes[token]!);
const lettersOf = ({ words }: RecognitionResult) => proseLetters(words.map(({ word }) => word).join(""));

describe("ordinary prose in Whisper's tokens", () => {
  test.each(PROSE_SAMPLES)(
    "is preserved in $language, whatever the number of tokens",
    async ({ language, long, name, numbers }) => {
      const said = [long, name, numbers];
      const results = await recognizedBy(language, said);
      for (const [index, { text, seconds }] of said.entries()) {
        expect(lettersOf(results[index]!)).toBe(proseLetters(text));
        expect(results[index]!.truncated).toBe(false);
        expect(isHallucination(results[index]!, seconds)).toBe(false);
      }
    },
  );

  test("exceeds the token limit in some languages", () => {
    const limited = PROSE_SAMPLES.filter(({ long }) => partsOf(long).length > 1);
    expect(limited.map(({ language }) => language)).toEqual(expect.arrayContaining(["bn", "ka", "my"]));
  });
});

test.each(PROSE_LOOPS)("a repetition loop in $language is dropped", async ({ phrase, ...looped }) => {
  const [result] = await recognizedBy(looped.language, [looped], "stuck");
  const isDropped = isHallucination(result!, looped.seconds);
  expect(isDropped || lettersOf(result!) === proseLetters(phrase)).toBe(true);
});

interface Part {
  tokens: number[];
  /** How many of them come before the word that the limit interrupts; all if it interrupts none. */
  complete: number;
}

/** What a decoder returns for a text in one window after another: to the limit, then from the last word on. */
function partsOf({ language, text }: ProseSample): Part[] {
  const tokens = vocabulary.encode(` ${text}`);
  const limit = MAX_TOKENS - PROMPT_TOKENS;
  if (tokens.length <= limit) return [{ tokens, complete: tokens.length }];
  const words = wordsOfTokens(tokens.slice(0, limit), vocabulary.tokenBytes, language);
  let rest = text;
  for (const { text: word } of words.slice(0, -1)) rest = rest.slice(rest.indexOf(word) + word.length);
  return [
    { tokens, complete: words.at(-1)!.firstToken },
    ...partsOf({ language, text: rest.trim(), seconds: 0 }),
  ];
}

/**
 * Recognizes texts with an engine whose decoder returns their tokens, each in a tone of its own. Where a text
 * exceeds the limit, the tone changes with the word that the limit interrupts.
 * @param attention Whether attention advances with the tokens, as over speech.
 */
async function recognizedBy(language: string, said: readonly ProseSample[], attention = "advancing") {
  const parts = said.map((sample) =>
    partsOf(sample).map((part, index, { length }) => ({
      ...part,
      seconds: sample.seconds * (length === 1 ? 1 : index === 0 ? 0.6 : 0.4),
    })),
  );
  const scripts = parts.flat();
  const folder = await mkdtemp(join(tmpdir(), "subtext-prose-"));
  try {
    await writeMadeWhisper(folder, {
      languages: [language],
      timestamps: false,
      maxTokens: MAX_TOKENS,
      promptTokens: PROMPT_TOKENS,
      writtenTokens: [...new Set(scripts.flatMap(({ tokens }) => tokens))].map(written),
      scripts: scripts.map(({ tokens, complete, seconds }) => ({
        says: tokens.slice(0, MAX_TOKENS).map((token, index) => ({
          token: written(token),
          at: attention === "stuck" ? 0.5 : seconds * Math.min(1, index / complete),
        })),
      })),
    });
    const engine = await openWhisper({ folder, threads: 1 });
    const utterances = parts.map((ofText) => {
      const tones = ofText.map((part) => pitchOf(scripts.indexOf(part), scripts.length, part.seconds));
      return { samples: Float32Array.from(tones.flatMap((tone) => [...tone])), start: 0 };
    });
    const { signal } = new AbortController();
    const results = await engine.recognize(utterances, { signal, languages: said.map(() => language) });
    await engine.close();
    return results;
  } finally {
    await rm(folder, { recursive: true });
  }
}
