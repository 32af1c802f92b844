import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Speech } from "@subtext/speech/processes/process-pool";
import type { TranscribeResult } from "@subtext/speech/transcript";
import { beforeAll } from "vitest";
import type { VideoPageView } from "../../src/admin/contract/video.ts";
import type { VideoDetailView } from "../../src/admin/contract/video-detail.ts";
import type { Db } from "../../src/db/schema.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Job } from "../../src/queue/job.ts";
import { openDiskRecordingStore } from "../../src/storage/disk/disk-recording-store.ts";
import {
  type DiskTranscriptStore,
  openDiskTranscriptStore,
} from "../../src/storage/disk/disk-transcript-store.ts";
import type { AttemptReport } from "../../src/transcription/attempt-report.ts";
import { type PipelineDeps, runTranscription } from "../../src/transcription/run.ts";
import { acceptUpload } from "../../src/uploads/accept-upload.ts";
import { sendAsCommandLine } from "../admin/operator-requests.ts";
import { createTenant, shareService, type TestService } from "../support/service.ts";

/** A fake engine, whose behavior and timing the test controls. */
export type FakeRecognition = (options: Parameters<Speech["transcribe"]>[1]) => Promise<TranscribeResult>;

export type PendingTranscription = Awaited<ReturnType<typeof createPendingTranscription>>;

interface Attempts {
  /** It runs no jobs. */
  service: TestService;
  /** Set before the tests of the file. */
  transcripts: DiskTranscriptStore;
  /** Uploads a video whose attempts the test runs. */
  pendingTranscription(): Promise<PendingTranscription>;
}

/** A service and folders for the attempts that the tests of a file run themselves. */
export function shareAttempts(): Attempts {
  const service = shareService({ start: false });
  let folder: string;
  const attempts = {
    service,
    pendingTranscription: () => createPendingTranscription(service, folder, attempts.transcripts),
  } as Attempts;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "subtext-test-"));
    attempts.transcripts = await openDiskTranscriptStore({
      folder: join(folder, "files"),
      baseUrl: "http://x",
      secret: Buffer.alloc(32),
    });
    return () => rm(folder, { recursive: true, force: true });
  });
  return attempts;
}

async function createPendingTranscription(
  service: TestService,
  folder: string,
  transcripts: DiskTranscriptStore,
) {
  const { database, queue } = service.service.parts;
  const db = database.kysely;
  const tenant = await createTenant(service);
  const videoId = newId("video");
  await db
    .insertInto("video")
    .values({
      id: videoId,
      environment_id: tenant.environmentId,
      metadata: "{}",
      size_bytes: 1,
      created_at: new Date(),
    })
    .execute();
  const recordings = await openDiskRecordingStore(join(folder, "uploads"));
  await writeFile(join(folder, "uploads", videoId), "x");
  await acceptUpload({ db, queue, clock: systemClock }, { videoId, sizeBytes: 1 });

  const read = () =>
    db.selectFrom("transcription").selectAll().where("video_id", "=", videoId).executeTakeFirstOrThrow();
  const jobOf = (row: { id: string; job_id: string }): Job => ({
    id: row.job_id,
    subjectId: row.id,
    signal: new AbortController().signal,
  });
  const run = async (
    recognize: FakeRecognition,
    options: {
      job?: Job;
      db?: Db;
      shutdown?: AbortSignal;
      isModelExpected?: boolean | (() => boolean);
      onAttempt?: (attempt: AttemptReport) => void;
    } = {},
  ) => {
    const deps: PipelineDeps = {
      db: options.db ?? db,
      queue,
      recordings,
      transcripts,
      clock: systemClock,
      log: service.service.parts.log,
      maxDurationSeconds: 60,
      maxConcurrentPerEnvironment: null,
      ...(options.onAttempt && { onAttempt: options.onAttempt }),
      isModelExpected: () => {
        const { isModelExpected = false } = options;
        return typeof isModelExpected === "function" ? isModelExpected() : isModelExpected;
      },
      speech: { ...service.service.parts.speech, transcribe: (_path, options) => recognize(options) },
    };
    const row = await read();
    const job = options.job ?? jobOf(row);
    await runTranscription(deps, job, options.shutdown ?? new AbortController().signal);
    return await read();
  };
  const eventsOf = async () => {
    const { id } = await read();
    return await db.selectFrom("event").selectAll().where("transcription_id", "=", id).execute();
  };
  const files = async () => {
    const { id } = await read();
    return await Array.fromAsync(transcripts.list(`transcripts/${id}/`));
  };
  /** The video as the dashboard shows it. */
  const view = async () => {
    const { environmentId } = tenant;
    const page = await sendAsCommandLine(service, `/environments/${environmentId}/videos`);
    return page.json<VideoPageView>().data[0];
  };
  /** The video as its own page shows it. */
  const detail = async () => {
    const path = `/environments/${tenant.environmentId}/videos/${videoId}`;
    return (await sendAsCommandLine(service, path)).json<VideoDetailView>().transcription!;
  };
  return { run, read, jobOf, eventsOf, files, view, detail, db, recordings };
}
