import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Tenant } from "@subtext/bench/spawned-service";
import { FILE_FORMATS, type TranscriptionStatus } from "@subtext/client/contract/transcription";
import { EVENT_TYPES, type EventType } from "@subtext/client/contract/webhook";
import type { TranscriptionAttemptRow, TranscriptionRow } from "@subtext/server/db/tables/transcriptions";
import type { Service } from "@subtext/server/main";
import { PROBES_PREFIX } from "@subtext/server/storage/object-store";
import { openS3ObjectStore } from "@subtext/server/storage/s3/s3-object-store";
import { confidenceKey, fileKey, posterKey, waveformKey } from "@subtext/server/storage/transcript-files";
import { findWebhookEndpoint } from "@subtext/server/webhooks/endpoint-queries";
import { redeliver } from "@subtext/server/webhooks/redeliver";
import type { World } from "./faults/fault.ts";
import type { ReceivedEvents } from "./receiver.ts";
import { readWords } from "./recordings.ts";

type Parts = Service["parts"];

const EVENT_TYPE_BY_STATUS: Partial<Record<TranscriptionStatus, EventType>> = {
  COMPLETED: EVENT_TYPES[0],
  FAILED: EVENT_TYPES[1],
  SKIPPED: EVENT_TYPES[2],
};
const MAX_PROBE_AGE_MS = 180_000;
const SWEEP_TIMEOUT_MS = 45_000;
const DELIVERY_TIMEOUT_MS = 60_000;

/** Checks statuses, words and deletions as a client sees them. */
export async function checkResponses({ fleet, customer, uploads }: World, tenant: Tenant): Promise<string[]> {
  const wrong: string[] = [];
  for (const { videoId, recording, deletion } of uploads) {
    if (deletion !== "none") {
      const status = await customer.statusOf(`/api/v1/videos/${videoId}`);
      if (status !== 404) wrong.push(`${videoId} was deleted, but the response is ${status}`);
      continue;
    }
    const seen = await fleet.front.service.read(tenant, videoId);
    if (seen?.status !== recording.expectedStatus) {
      wrong.push(
        `${videoId} ("${recording.name}") is ${seen?.status} instead of ${recording.expectedStatus}`,
      );
    } else if (recording.expectedStatus === "COMPLETED") {
      const words = await readWords(seen.files!.json.url).catch((error: Error) => error.message);
      if (words !== recording.transcript)
        wrong.push(`${videoId} ("${recording.name}") has other words: ${words}`);
    }
  }
  return wrong;
}

/**
 * Redelivers webhooks immediately, because their next retry may be hours away.
 * @returns the number of redelivered webhooks
 */
export async function redeliverPending({ database, queue, clock }: Parts): Promise<number> {
  const db = database.kysely;
  const waiting = await db
    .selectFrom("delivery")
    .select(["id", "endpoint_id"])
    .where("status", "!=", "succeeded")
    .execute();
  for (const { id, endpoint_id } of waiting) {
    const endpoint = await findWebhookEndpoint(db, endpoint_id);
    if (!endpoint) continue;
    await db.transaction().execute((tx) => redeliver({ tx, queue, clock }, endpoint, id));
  }
  return waiting.length;
}

export async function waitUntilDelivered({ uploads }: World, received: ReceivedEvents): Promise<void> {
  const isDelivered = ({ videoId, deletion, recording }: World["uploads"][number]) =>
    deletion !== "none" ||
    received.accepted.get(videoId)?.has(EVENT_TYPE_BY_STATUS[recording.expectedStatus]!);
  const deadline = performance.now() + DELIVERY_TIMEOUT_MS;
  while (performance.now() < deadline && !uploads.every(isDelivered)) await sleep(250);
}

/**
 * Compares the database with the events that the receiver accepted.
 * @param reprocessed videos whose transcription failed and was reprocessed
 */
export async function checkRows(
  { database }: Parts,
  { uploads }: World,
  { received, reprocessed }: { received: ReceivedEvents; reprocessed: ReadonlySet<string> },
): Promise<string[]> {
  const wrong: string[] = [];
  const db = database.kysely;
  const transcriptions = await db.selectFrom("transcription").selectAll().execute();
  const attempts = await db.selectFrom("transcription_attempt").selectAll().execute();
  const videos = new Map((await db.selectFrom("video").selectAll().execute()).map((row) => [row.id, row]));
  const events = await db.selectFrom("event").selectAll().execute();
  const uploadIds = new Set(uploads.map(({ videoId }) => videoId));

  for (const { videoId, deletion, recording } of uploads) {
    const transcriptionsOfVideo = transcriptions.filter(({ video_id }) => video_id === videoId);
    if (deletion === "done") {
      if (videos.has(videoId)) wrong.push(`${videoId} was deleted but has a row`);
      continue;
    }
    if (transcriptionsOfVideo.length !== 1)
      wrong.push(`${videoId} has ${transcriptionsOfVideo.length} transcriptions`);
    const type = EVENT_TYPE_BY_STATUS[recording.expectedStatus]!;
    const emitted = events.filter(
      ({ transcription_id }) => transcription_id === transcriptionsOfVideo[0]?.id,
    );
    const stored = emitted.filter((event) => event.type === type);
    for (const event of emitted) {
      if (event.type === type || (event.type === EVENT_TYPE_BY_STATUS.FAILED && reprocessed.has(videoId)))
        continue;
      wrong.push(`${videoId} has an event ${event.type} that does not match its status`);
    }
    for (const row of transcriptionsOfVideo) {
      const attemptsOfTranscription = attempts.filter(({ transcription_id }) => transcription_id === row.id);
      if (!wasEndedByLastAttempt(row, attemptsOfTranscription)) {
        const outcomes = attemptsOfTranscription
          .map(({ number, outcome }) => `${number} ${outcome}`)
          .join(", ");
        wrong.push(`${videoId} is ${row.status}, which its last attempt did not cause: ${outcomes}`);
      }
    }
    if (stored.length !== 1) wrong.push(`${videoId} has ${stored.length} events of type ${type}`);
    const ids = [...(received.accepted.get(videoId)?.get(type) ?? [])];
    if (ids.length !== 1 || ids[0] !== stored[0]?.id) {
      wrong.push(`${videoId}: the receiver has ${ids.length} ids of ${type}: ${ids.join(", ")}`);
    }
  }
  for (const { id, uploaded_at: uploadedAt } of videos.values()) {
    if (uploadedAt !== null && !uploadIds.has(id))
      wrong.push(`${id} is complete but was not uploaded by the campaign`);
  }
  return wrong;
}

const OUTCOME_BY_STATUS: Partial<Record<TranscriptionStatus, string>> = {
  COMPLETED: "completed",
  FAILED: "failed",
  SKIPPED: "skipped",
};

/** Returns false if an attempt other than the last one ended the transcription, or wrote after its end. */
function wasEndedByLastAttempt(
  { status, attempt, finished_at }: TranscriptionRow,
  attempts: TranscriptionAttemptRow[],
): boolean {
  const last = attempts.find(({ number }) => number === attempt);
  const endings = attempts.filter(({ outcome }) => outcome === "completed" || outcome === "skipped");
  return (
    last !== undefined &&
    last.outcome === OUTCOME_BY_STATUS[status] &&
    last.ended_at?.getTime() === finished_at?.getTime() &&
    endings.every((ending) => ending === last) &&
    attempts.every(({ outcome, number }) => outcome !== null && number <= attempt)
  );
}

/** Checks that each stored object has a row and each row has its objects. */
export async function checkFiles({ database, recordings, config }: Parts): Promise<string[]> {
  const wrong: string[] = [];
  const db = database.kysely;
  const transcriptions = await db.selectFrom("transcription").selectAll().execute();
  const videos = new Map((await db.selectFrom("video").selectAll().execute()).map((row) => [row.id, row]));
  const owned = new Set<string>();
  for (const { file_prefix: files, waveform_prefix: waveform, poster_prefix: poster } of transcriptions) {
    if (files !== null) {
      for (const format of FILE_FORMATS) owned.add(`files/${fileKey(files, format)}`);
      owned.add(`files/${confidenceKey(files)}`);
    }
    if (waveform !== null) owned.add(`files/${waveformKey(waveform)}`);
    if (poster !== null) owned.add(`files/${posterKey(poster)}`);
  }
  for (const { id, uploaded_at: uploadedAt } of videos.values()) {
    if (uploadedAt !== null) owned.add(`uploads/${id}`);
  }
  const found = new Set(config.bucket ? await bucketKeys(config.bucket) : await diskKeys(config.dataFolder));
  for (const key of owned) if (!found.has(key)) wrong.push(`${key} is missing`);
  for (const key of found) {
    const [folder, id = ""] = key.split("/");
    const isOpenUpload = (folder === "uploads" || folder === "tails") && videos.get(id)?.uploaded_at === null;
    if (!owned.has(key) && !isOpenUpload) wrong.push(`${key} has no row`);
  }
  for await (const id of recordings.list()) {
    if (!videos.has(id)) wrong.push(`the recording ${id} has parts but no row`);
  }
  return [...new Set(wrong)];
}

/** Repeats the check until it succeeds or the sweeps must have finished. */
export async function checkAfterSweep(check: () => Promise<string[]>): Promise<string[]> {
  const deadline = performance.now() + SWEEP_TIMEOUT_MS;
  for (;;) {
    const wrong = await check();
    if (wrong.length === 0 || performance.now() > deadline) return wrong;
    await sleep(3_000);
  }
}

async function bucketKeys(config: NonNullable<Parts["config"]["bucket"]>): Promise<string[]> {
  const bucket = openS3ObjectStore(config);
  try {
    const objects = await Array.fromAsync(bucket.list(""));
    return objects
      .filter((object) => !["installation", "store.json"].includes(object.key) && !isProbe(object))
      .map(({ key }) => key);
  } finally {
    bucket.close();
  }
}

/** Returns whether a recently ended process may have left this probe behind. */
function isProbe({ key, writtenAt }: { key: string; writtenAt: Date }): boolean {
  return key.startsWith(PROBES_PREFIX) && Date.now() - writtenAt.getTime() < MAX_PROBE_AGE_MS;
}

async function diskKeys(dataFolder: string): Promise<string[]> {
  const keys: string[] = [];
  for (const folder of ["files", "uploads"]) {
    const root = join(dataFolder, folder);
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) keys.push(join(entry.parentPath, entry.name).slice(dataFolder.length + 1));
    }
  }
  return keys;
}
