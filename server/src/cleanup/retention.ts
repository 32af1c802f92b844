import type { Db } from "../db/schema.ts";
import type { EnvironmentRow } from "../db/tables/environments.ts";
import { listEnvironments, retentionOf } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { guardItem, type ItemDeps } from "../lib/guard-item.ts";
import type { StoreOwnership } from "../storage/ownership/store-ownership.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import { posterKey, TRANSCRIPTS_PREFIX } from "../storage/transcript-files.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { type DuePosition, deleteDue, dueBefore, findDue } from "../videos/retention-queries.ts";

export interface RetentionDeps extends ItemDeps {
  db: Db;
  recordings: RecordingStore;
  transcripts: TranscriptStore;
  ownership: Pick<StoreOwnership, "state">;
  clock: Clock;
}

const BATCH = 200;

/**
 * Deletes videos or recordings that are older than the retention period of their environment. Files are deleted after
 * the transaction that changes the video's row. If the process crashes in between, the sweep deletes them. Videos whose
 * transcription is pending or running are never deleted. A video whose transcription FAILED keeps its recording for the
 * retention period, so that it can be reprocessed.
 */
export async function applyRetention(deps: RetentionDeps, signal: AbortSignal): Promise<void> {
  if (!(await deps.ownership.state()).isOwner) return;
  for (const environment of await listEnvironments(deps.db)) {
    if (signal.aborted) return;
    const item = { task: "retention", environmentId: environment.id };
    await guardItem(deps, item, () => applyToEnvironment(deps, environment, signal));
  }
}

async function applyToEnvironment(
  deps: RetentionDeps,
  environment: EnvironmentRow,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, log } = deps;
  const retention = retentionOf(environment);
  if (!retention) return;
  const before = dueBefore(retention, clock.now());
  let videos = 0;
  try {
    for (const hasRecording of retention.deletes === "recording" ? [true] : [true, false]) {
      for await (const { id } of walkDue(db, environment.id, { before, hasRecording })) {
        if (signal.aborted) return;
        const item = { environmentId: environment.id, videoId: id };
        if (await guardItem(deps, { task: "retention", ...item }, () => deleteOne(deps, item))) videos += 1;
      }
    }
  } finally {
    if (videos > 0) log.info({ environmentId: environment.id, ...retention, videos }, "retention applied");
  }
}

async function* walkDue(
  db: Db,
  environmentId: string,
  due: { before: Date; hasRecording: boolean },
): AsyncGenerator<DuePosition> {
  let after: DuePosition | null = null;
  for (;;) {
    const batch: DuePosition[] = await findDue(db, environmentId, { ...due, after, limit: BATCH });
    yield* batch;
    after = batch.at(-1) ?? null;
    if (batch.length < BATCH) return;
  }
}

async function deleteOne(
  { db, recordings, transcripts, clock, log }: RetentionDeps,
  { environmentId, videoId }: { environmentId: string; videoId: string },
): Promise<boolean> {
  const taken = await db
    .transaction()
    .execute(async (tx) => await deleteDue(tx, { environmentId, videoId, now: clock.now() }));
  if (!taken) return false;
  log.info({ environmentId, videoId, deleted: taken.deleted }, "deleted by retention");
  await recordings.remove(videoId);
  if (taken.deleted === "video" && taken.transcriptionId !== null) {
    for await (const key of transcripts.list(`${TRANSCRIPTS_PREFIX}${taken.transcriptionId}/`))
      await transcripts.remove(key);
  } else if (taken.posterPrefix !== null) {
    await transcripts.remove(posterKey(taken.posterPrefix));
  }
  return true;
}
