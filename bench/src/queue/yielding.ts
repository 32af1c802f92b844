import { spawnSync } from "node:child_process";
import { copyFile, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createEnvironment } from "@subtext/server/environments/environments";
import { newId } from "@subtext/server/lib/ids";
import { startWork, type WorkDeps } from "@subtext/server/start-work";
import { openDiskTranscriptStore } from "@subtext/server/storage/disk/disk-transcript-store";
import type { RecordingStore } from "@subtext/server/storage/recording-store";
import { createLog } from "@subtext/server/telemetry/log";
import { RunningAttempts } from "@subtext/server/transcription/running-attempts";
import { acceptUpload } from "@subtext/server/uploads/accept-upload";
import { openUploadLocker } from "@subtext/server/uploads/open-upload-locker";
import { createEndpointPolicy } from "@subtext/server/webhooks/guard-url";
import { createHostResolver } from "@subtext/server/webhooks/resolve-host";
import { createSpeech, type Speech } from "@subtext/speech/processes/process-pool";
import type { QueueParts } from "./videos.ts";

/** For a shorter recording, the other durations are scaled down in proportion. */
const FULL_HOURS = 12;
const FULL_SLICE_SECONDS = 60;
const FULL_CHECKPOINT_SECONDS = 30;
const FULL_WAIT_SECONDS = 120;
const SAMPLE = join(import.meta.dirname, "../../../demo/sample/sample.mp4");
const FULL_CLIP_SECONDS = 60;
/** In shorter clips, the bundled engine does not detect English reliably. */
const MIN_CLIP_SECONDS = 10;

export interface YieldingOptions {
  /** For recordings and transcripts. */
  folder: string;
  hours: number;
  clipIntervalSeconds: number;
  withClips: boolean;
}

export interface YieldingResult {
  /** Duration of all attempts at the recording. */
  workSeconds: number;
  /** Part of `workSeconds` before resumed attempts made new progress. */
  resumeSeconds: number;
  attempts: number;
  clips: ClipStart[];
}

export interface ClipStart {
  environment: "same" | "other";
  waitSeconds: number;
  /** Maximum wait: 2 minutes (scaled) or 6 × the last measured cost of resuming, whichever is longer. */
  boundSeconds: number;
}

/** Transcribes a long recording on one worker with the bundled engine while short clips arrive. */
export async function measureYielding(
  parts: QueueParts,
  { folder, hours, clipIntervalSeconds, withClips }: YieldingOptions,
): Promise<YieldingResult> {
  const scale = hours / FULL_HOURS;
  const recordings = join(folder, "recordings");
  await mkdir(recordings, { recursive: true });
  const long = join(folder, "long.mp4");
  const clip = join(folder, "clip.mp4");
  loopSample(long, hours * 3600);
  loopSample(clip, Math.max(MIN_CLIP_SECONDS, FULL_CLIP_SECONDS * scale));

  const speech = createSpeech({
    parts: () => ({ bundled: true, multilingual: null, bundledTakesEnglish: true, remedy: "" }),
    processes: 1,
    threads: 2,
    memoryLimitBytes: 2 * 1024 ** 3,
    heartbeatTimeoutMs: 60_000,
    checkpointIntervalSeconds: FULL_CHECKPOINT_SECONDS * scale,
  });
  await speech.describe();
  const resumes: number[] = [];
  const shutdown = new AbortController();
  const log = createLog("error");
  const environments = {
    same: (await createEnvironment(parts, { name: "Same", aiTranscription: true })).id,
    other: (await createEnvironment(parts, { name: "Other", aiTranscription: true })).id,
  };
  const accept = async (path: string, environmentId: string): Promise<string> => {
    const id = newId("video");
    await copyFile(path, join(recordings, id));
    const { size } = await stat(path);
    const row = { id, environment_id: environmentId, metadata: "{}", size_bytes: size };
    await parts.db
      .insertInto("video")
      .values({ ...row, created_at: parts.clock.now() })
      .execute();
    await acceptUpload(parts, { videoId: id, sizeBytes: size });
    return id;
  };
  await startWork(
    {
      ...parts,
      log,
      transcripts: await openDiskTranscriptStore({
        folder: join(folder, "files"),
        baseUrl: "http://127.0.0.1",
        secret: Buffer.alloc(32),
      }),
      recordings: {
        open: async (id: string) => ({ path: join(recordings, id), release: async () => {} }),
      } as unknown as RecordingStore,
      // Posters would compete with the transcriptions that are measured.
      posterDecoder: async () => ({ poster: async () => ({ hasVideo: true, frame: null }) }),
      speech: timeResumes(speech, resumes),
      models: {
        isExpected: () => false,
        installed: () => null,
        onChange: () => {},
        start: () => {},
      } as unknown as WorkDeps["models"],
      running: new RunningAttempts(parts.db),
      locker: openUploadLocker(null),
      policy: createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: [] }),
      resolve: createHostResolver(),
      version: "0",
      maxDurationSeconds: FULL_HOURS * 3600,
      maxConcurrentPerEnvironment: null,
      concurrency: 1,
      minSliceSeconds: FULL_SLICE_SECONDS * scale,
    },
    shutdown.signal,
  );
  const statusOf = async (id: string) =>
    await parts.db
      .selectFrom("transcription")
      .select(["status", "started_at", "queued_at"])
      .where("video_id", "=", id)
      .executeTakeFirstOrThrow();
  const untilEnded = async (id: string): Promise<void> => {
    for (;;) {
      const { status } = await statusOf(id);
      if (status === "COMPLETED") return;
      if (status === "FAILED" || status === "SKIPPED") throw new Error(`a transcription is ${status}`);
      await sleep(100);
    }
  };

  try {
    // Load the models, and let each environment's cost estimate adjust to the engine's speed.
    for (const environmentId of Object.values(environments))
      await untilEnded(await accept(clip, environmentId));
    const longId = await accept(long, environments.same);
    const starts: ClipStart[] = [];
    while (withClips) {
      await sleep(clipIntervalSeconds * 1000);
      if ((await statusOf(longId)).status === "COMPLETED") break;
      const environment = starts.length % 2 === 0 ? "same" : "other";
      const id = await accept(clip, environments[environment]);
      await untilEnded(id);
      const { started_at, queued_at } = await statusOf(id);
      starts.push({
        environment,
        waitSeconds: (started_at!.getTime() - queued_at.getTime()) / 1000,
        boundSeconds: Math.max(FULL_WAIT_SECONDS * scale, 6 * (resumes.at(-1) ?? 0)),
      });
    }
    await untilEnded(longId);
    const attempts = await parts.db
      .selectFrom("transcription_attempt")
      .innerJoin("transcription", "transcription.id", "transcription_id")
      .select(["transcription_attempt.started_at", "transcription_attempt.ended_at"])
      .where("video_id", "=", longId)
      .execute();
    return {
      workSeconds: attempts.reduce(
        (sum, { started_at, ended_at }) => sum + (ended_at!.getTime() - started_at.getTime()) / 1000,
        0,
      ),
      resumeSeconds: resumes.reduce((sum, seconds) => sum + seconds, 0),
      attempts: attempts.length,
      clips: starts,
    };
  } finally {
    await parts.queue.pause();
    shutdown.abort(new Error("stopping"));
    await speech.close();
  }
}

/** Appends to `resumes` how many seconds each resumed attempt takes until it makes new progress. */
function timeResumes(speech: Speech, resumes: number[]): Speech {
  return {
    describe: () => speech.describe(),
    start: () => speech.start(),
    renew: () => speech.renew(),
    close: () => speech.close(),
    transcribe: (path, options) => {
      if (!options.checkpoints?.length) return speech.transcribe(path, options);
      const startedAt = performance.now();
      let first: number | null = null;
      let isResuming = true;
      return speech.transcribe(path, {
        ...options,
        onProgress: (progress) => {
          first ??= progress.done;
          if (isResuming && progress.done > first) {
            isResuming = false;
            resumes.push((performance.now() - startedAt) / 1000);
          }
          options.onProgress?.(progress);
        },
      });
    },
  };
}

function loopSample(path: string, seconds: number): void {
  const { status, stderr } = spawnSync(
    "ffmpeg",
    [
      ...["-nostdin", "-v", "error", "-y", "-stream_loop", "-1", "-i", SAMPLE, "-t", String(seconds)],
      ...["-vn", "-c:a", "copy", path],
    ],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`ffmpeg failed: ${stderr}`);
}
