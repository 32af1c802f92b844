import { readFile } from "node:fs/promises";
import type { Word } from "@subtext/captions/words";
import { describe, expect, test } from "vitest";
import {
  type LANGUAGE_RECORDINGS,
  languageRecording,
  tinyWhisperModel,
} from "../../../speech/test/support/language-recordings.ts";
import { compareWords, quantile } from "../../../speech/test/support/spoken.ts";
import { createTenant, shareService, untilEnded, upload } from "../support/service.ts";

/** Transcribes synthetic Spanish, Portuguese, English and French speech with a small model. */
const service = shareService({ env: { ENGINE: "whisper", WHISPER_MODEL: tinyWhisperModel } });

async function transcribed(name: (typeof LANGUAGE_RECORDINGS)[number]) {
  const tenant = await createTenant(service);
  const recording = languageRecording(name);
  const videoId = await upload(service, tenant, await readFile(recording.path));
  const transcription = await untilEnded(service, tenant, videoId);
  expect(transcription.status).toBe("COMPLETED");
  const file = async (format: "vtt" | "json" | "txt") =>
    await (await fetch(transcription.files?.[format].url ?? "")).text();
  const row = await service.service.parts.database.kysely
    .selectFrom("transcription")
    .selectAll()
    .where("id", "=", transcription.id)
    .executeTakeFirstOrThrow();
  return {
    transcription,
    row,
    vtt: await file("vtt"),
    txt: await file("txt"),
    words: JSON.parse(await file("json")) as Word[],
    spoken: recording.sentences.flatMap(({ words }) => words),
  };
}

/** The word error rate, and the pairs of spoken and recognized words. */
function compared({
  spoken,
  words,
}: {
  spoken: readonly { word: string; start: number }[];
  words: readonly Word[];
}) {
  const { agreeing, errorRate } = compareWords(
    spoken.map(({ word }) => plain(word)),
    words.map(({ word }) => plain(word)),
  );
  return { late: agreeing.map(([i, j]) => Math.abs(spoken[i]!.start - words[j]!.start)), errorRate };
}

const plain = (word: string) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}']/gu, "");

describe("a transcript has the spoken language, the words and their times", () => {
  test.each([
    ["spanish", "es"],
    ["portuguese", "pt"],
    ["french", "fr"],
    ["english", "en"],
  ] as const)("%s", async (name, language) => {
    const { transcription, row, words, spoken, vtt } = await transcribed(name);
    expect(transcription.language).toBe(language);
    const { late, errorRate } = compared({ spoken, words });
    expect(errorRate).toBeLessThanOrEqual(0.05);
    expect(transcription.wordCount).toBe(words.length);
    expect(quantile(late, 0.5)).toBeLessThan(0.05);
    expect(Math.max(...late)).toBeLessThan(0.5);
    expect(vtt).toContain("-->");
    expect(row.language_segments?.map((segment) => segment.language)).toEqual([language]);
    expect(row.engine).toContain("model");
  });
});

test("a recording that changes language has a segment for each language", async () => {
  const { transcription, row, words, spoken } = await transcribed("mixed");
  const { languages } = languageRecording("mixed");
  expect(languages.length).toBeGreaterThan(2);
  expect(row.language_segments?.map(({ language }) => language)).toEqual(languages);
  expect(languages).toContain(transcription.language);
  expect(compared({ spoken, words }).errorRate).toBeLessThanOrEqual(0.05);
});

test("noise, tones and music have no speech", async () => {
  const { transcription, words, txt, vtt } = await transcribed("nobody");
  expect(transcription).toMatchObject({ language: "zxx", wordCount: 0 });
  expect(words).toEqual([]);
  expect(txt).toBe("");
  expect(vtt.trim()).toBe("WEBVTT");
});
