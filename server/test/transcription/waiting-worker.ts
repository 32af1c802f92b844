import { join } from "node:path";
import { SpeechError } from "@subtext/speech/errors";
import type { TranscribeResult } from "@subtext/speech/transcript";
import { readConfig } from "../../src/config/config.ts";
import { openDatabase } from "../../src/db/open.ts";
import type { Schema } from "../../src/db/schema.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { Queue } from "../../src/queue/queue.ts";
import { startWork, type WorkDeps } from "../../src/start-work.ts";
import { openDiskTranscriptStore } from "../../src/storage/disk/disk-transcript-store.ts";
import type { RecordingStore } from "../../src/storage/recording-store.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { RunningAttempts } from "../../src/transcription/running-attempts.ts";
import { openUploadLocker } from "../../src/uploads/open-upload-locker.ts";
import { createEndpointPolicy } from "../../src/webhooks/guard-url.ts";
import { createHostResolver } from "../../src/webhooks/resolve-host.ts";
import { FAKE_TRANSCRIPT } from "../support/fake-transcript.ts";

/**
 * A worker process on a shared PostgreSQL and a shared folder. Only the engine is fake: it waits for
 * `RECOGNITION_MS` and then returns the word `SAYS`. Writes `ready` when it accepts work, ends at SIGTERM.
 */
const { RECOGNITION_MS = "0", SAYS = "Hello.", FILES_FOLDER = "" } = process.env;
const config = readConfig(process.env);
const log = createLog(config.logLevel);
const database = await openDatabase<Schema>({
  databaseUrl: config.databaseUrl,
  folder: join(config.dataFolder, "database"),
  log,
});
const queue = new Queue(database.boss, database.kind, log);
await queue.start();
const transcripts = await openDiskTranscriptStore({
  folder: FILES_FOLDER,
  baseUrl: "http://127.0.0.1",
  secret: Buffer.alloc(32),
});
const shutdown = new AbortController();

async function recognize(signal: AbortSignal): Promise<TranscribeResult> {
  const until = Date.now() + Number(RECOGNITION_MS);
  while (Date.now() < until) {
    if (signal.aborted) throw new SpeechError("engine_crashed", "It was canceled.");
    await new Promise((resolve) => setTimeout(resolve, Math.min(50, until - Date.now())));
  }
  return { ...FAKE_TRANSCRIPT, words: [{ word: SAYS, start: 0, end: 0.5, confidence: 1 }] };
}

await startWork(
  {
    db: database.kysely,
    queue,
    transcripts,
    log,
    clock: systemClock,
    recordings: {
      open: async () => ({ path: "/nowhere", release: async () => {} }),
    } as unknown as RecordingStore,
    posterDecoder: async () => ({ poster: async () => ({ hasVideo: true, frame: null }) }),
    speech: {
      transcribe: (_path: string, { signal }: { signal: AbortSignal }) => recognize(signal),
    } as unknown as WorkDeps["speech"],
    models: {
      isExpected: () => false,
      installed: () => null,
      onChange: () => {},
      start: () => {},
    } as unknown as WorkDeps["models"],
    running: new RunningAttempts(database.kysely),
    locker: openUploadLocker(null),
    policy: createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["127.0.0.1/32"] }),
    resolve: createHostResolver(),
    version: "0",
    maxDurationSeconds: 60,
    maxConcurrentPerEnvironment: config.maxConcurrentPerEnvironment,
    concurrency: config.workerConcurrency,
  },
  shutdown.signal,
);
process.stdout.write("ready\n");

process.on("SIGTERM", async () => {
  await queue.pause();
  shutdown.abort(new Error("stopping"));
  await queue.stop(5_000);
  await database.close();
  process.exit(0);
});
