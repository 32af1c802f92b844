import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EngineSelection } from "../../src/engines/registry.ts";
import { createSpeech } from "../../src/processes/process-pool.ts";
import type { Transcript } from "../../src/transcript.ts";
import { languageRecording, tinyWhisperModel } from "../support/language-recordings.ts";
import { ENGLISH, spoken } from "../support/spoken.ts";
import { sequence, wavFile } from "../support/wav.ts";

const { signal } = new AbortController();
let folder: string;
let english: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "speech-parallelism-"));
  english = join(folder, "english.wav");
  // Several batches, which several workers share.
  const sentences = Array.from({ length: 14 }, (_, index) => [
    spoken(ENGLISH[index % ENGLISH.length]!).samples,
    [0.3, 1.2, 2.5][index % 3]!,
  ]).flat();
  writeFileSync(english, wavFile(sequence(...sentences)));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Transcribes all recordings at once, and returns the transcripts as text. */
async function transcripts(parts: EngineSelection, paths: string[], processes: number, threads: number) {
  const speech = createSpeech({
    parts: () => parts,
    ...{ processes, threads, memoryLimitBytes: 2_000_000_000, heartbeatTimeoutMs: 300_000 },
  });
  try {
    const results = paths.map(async (path) => {
      const result = await speech.transcribe(path, { maxDurationSeconds: 3_600, signal });
      const { stages: _, ...transcript } = result as Transcript;
      return JSON.stringify(transcript);
    });
    return await Promise.all(results);
  } finally {
    await speech.close();
  }
}

// Real models, which are slow on a busy machine.
describe("a transcript is the same byte for byte", { timeout: 600_000 }, () => {
  const bundledOnly = { bundled: true, multilingual: null, bundledTakesEnglish: false, remedy: "" };
  const both = {
    bundled: true,
    multilingual: { kind: "whisper" as const, folder: tinyWhisperModel },
    bundledTakesEnglish: true,
    remedy: "",
  };

  test.each<[string, EngineSelection, () => string[]]>([
    ["with the bundled engine", bundledOnly, () => [english, languageRecording("english").path]],
    ["with both engines", both, () => [languageRecording("mixed").path, languageRecording("french").path]],
  ])("on one and two threads, in one and two processes, %s", async (_, parts, paths) => {
    const expected = await transcripts(parts, paths(), 1, 1);
    for (const transcript of expected) expect(JSON.parse(transcript).words.length).toBeGreaterThan(10);
    for (const processes of [1, 2]) {
      const others = await transcripts(parts, paths(), processes, 2);
      // Not compared by the test library, which would print all of both.
      expect(others.map((transcript, index) => transcript === expected[index])).toEqual([true, true]);
    }
  });
});
