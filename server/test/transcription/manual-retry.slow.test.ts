import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Checkpoint, parseResults } from "@subtext/speech/checkpoints/checkpoint";
import { SpeechError } from "@subtext/speech/errors";
import { createSpeech, type Speech } from "@subtext/speech/processes/process-pool";
import type { Transcript } from "@subtext/speech/transcript";
import { beforeAll, expect, test } from "vitest";
import { ENGLISH, spoken } from "../../../speech/test/support/spoken.ts";
import { sequence, wavFile } from "../../../speech/test/support/wav.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { cancelTranscription } from "../../src/transcription/cancel.ts";
import { readCheckpoints } from "../../src/transcription/checkpoint-queries.ts";
import { reprocess } from "../../src/transcription/reprocess.ts";
import { RunningAttempts } from "../../src/transcription/running-attempts.ts";
import { until } from "../support/service.ts";
import { type PendingTranscription, shareAttempts } from "./share-attempts.ts";

const { service, pendingTranscription } = shareAttempts();
const parts = { bundled: true, multilingual: null, bundledTakesEnglish: false, remedy: "" };
const options = { maxDurationSeconds: 3600, signal: new AbortController().signal };

let speech: Speech;
let path: string;
let uninterrupted: Transcript;

// The pauses make separate batches, so that there are checkpoints in the middle.
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "subtext-retry-"));
  path = join(folder, "sentences.wav");
  const sentences = Array.from({ length: 12 }, (_, index) => [
    spoken(ENGLISH[index % ENGLISH.length]!).samples,
    2.5,
  ]);
  await writeFile(path, wavFile(sequence(...sentences.flat())));
  speech = createSpeech({
    parts: () => parts,
    processes: 1,
    threads: 1,
    memoryLimitBytes: 1_500_000_000,
    heartbeatTimeoutMs: 30_000,
    checkpointIntervalSeconds: 0,
  });
  uninterrupted = (await speech.transcribe(path, options)) as Transcript;
  return async () => {
    await speech.close();
    await rm(folder, { recursive: true });
  };
}, 180_000);

const ends = {
  "is canceled": async ({ db, read }: PendingTranscription) => {
    const { queue } = service.service.parts;
    const deps = { db, queue, clock: systemClock, running: new RunningAttempts(db) };
    await cancelTranscription(deps, (await read()).id);
    return new Error("canceled");
  },
  fails: async () => new SpeechError("engine_refused", "The key has expired."),
};

test.each(Object.entries(ends))(
  "a retry of a transcription that %s recognizes only the rest, and has the words of an uninterrupted one",
  { timeout: 180_000 },
  async (_, end) => {
    const pending = await pendingTranscription();
    const { db, read, run } = pending;
    const ended = new AbortController();
    const failed = await run(async (its) => {
      const first = Promise.withResolvers<void>();
      const stopped = speech.transcribe(path, {
        ...its,
        ...options,
        signal: ended.signal,
        onCheckpoint: (checkpoint) => {
          its.onCheckpoint!(checkpoint);
          first.resolve();
        },
      });
      stopped.catch(() => {});
      await Promise.race([first.promise, stopped]);
      await until(async () => (await readCheckpoints(db, (await read()).id)).length > 0);
      const error = await end(pending);
      ended.abort(error);
      await stopped.catch(() => {});
      throw error;
    });
    expect(failed.status).toBe("FAILED");
    const { id } = failed;
    const before = await readCheckpoints(db, id);
    expect(before.length).toBeGreaterThan(0);

    const { queue } = service.service.parts;
    await reprocess({ db, queue, clock: systemClock }, id);
    const added: Checkpoint[] = [];
    let transcript: Transcript | undefined;
    const row = await run(async (its) => {
      transcript = (await speech.transcribe(path, {
        ...its,
        ...options,
        onCheckpoint: (checkpoint) => added.push(checkpoint),
      })) as Transcript;
      return transcript;
    });
    expect(row).toMatchObject({ status: "COMPLETED", attempt: 2 });
    expect(transcript?.words).toEqual(uninterrupted.words);
    const keys = (checkpoints: Checkpoint[]) =>
      checkpoints.flatMap(({ results }) => parseResults(results)!.recognitions.map(([key]) => key));
    expect(keys(before).length).toBeGreaterThan(0);
    expect(keys(added).length).toBeGreaterThan(0);
    expect(keys(added).filter((key) => keys(before).includes(key))).toEqual([]);
  },
);
