import { deleteAuditEvents } from "../audit/queries.ts";
import { deleteOldOperations } from "../bulk-operations/queries.ts";
import { deleteResponses, RESPONSE_RETENTION_MS } from "../http/idempotency.ts";
import type { ItemDeps } from "../lib/guard-item.ts";
import { logLevelOf } from "../lib/outages.ts";
import type { StoreOwnership } from "../storage/ownership/store-ownership.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import type { AcceptDeps } from "../uploads/accept-upload.ts";
import { sweepLostJobs } from "./reconcile-jobs.ts";
import { applyRetention } from "./retention.ts";
import { sweepMissingFiles } from "./sweep-missing-files.ts";
import { sweepStoredFiles } from "./sweep-stored-files.ts";
import { sweepOpenUploads } from "./sweep-uploads.ts";

export interface SweepDeps extends AcceptDeps, ItemDeps {
  recordings: RecordingStore;
  transcripts: TranscriptStore;
  ownership: StoreOwnership;
  uploadExpiryMs: number;
  /** How long audit events are retained; forever if undefined. */
  auditLogDays?: number;
}

export interface Sweeper {
  /** Resolves after a running sweep has stopped. */
  stop(): Promise<void>;
}

/** Only every nth sweep is a full one, because a full sweep lists every stored file. */
const FULL_SWEEP_EVERY = 12;
const ADVANCE_INTERVAL_MS = 60_000;
const DAY_MS = 86_400_000;
const OPERATION_RETENTION_MS = 7 * DAY_MS;
/** A download that was interrupted by a crash never ends. */
const DOWNLOAD_RETENTION_MS = DAY_MS;

/** Runs a sweep at an interval, one at a time. */
export function startSweeping(deps: SweepDeps, intervalMs: number): Sweeper {
  const stopped = new AbortController();
  let sweeping = Promise.resolve();
  let isQueued = false;
  let sweeps = 0;
  const start = () => {
    const full = sweeps % FULL_SWEEP_EVERY === 0;
    // If sweeps take longer than the interval, at most one waits, and the others are skipped.
    if (isQueued) return;
    isQueued = true;
    sweeps += 1;
    sweeping = sweeping.then(() => {
      isQueued = false;
      return sweep(deps, { full, signal: stopped.signal });
    });
  };
  const advance = () =>
    deps.ownership
      .advanceIfChanged()
      .catch((error) =>
        deps.log[logLevelOf(error, "warn")]({ err: error }, "the store's generation could not be advanced"),
      );
  start();
  const timers = [setInterval(start, intervalMs), setInterval(advance, ADVANCE_INTERVAL_MS)];
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      stopped.abort();
      await sweeping;
      await advance();
    },
  };
}

/**
 * Repairs inconsistencies between files, rows and jobs that a crash can leave, and deletes expired data. Safe during
 * live traffic and while other processes sweep. If one part fails, the error is logged and the others still run.
 */
export async function sweep(
  deps: SweepDeps,
  { full, signal }: { full: boolean; signal: AbortSignal },
): Promise<void> {
  const parts = [
    sweepOpenUploads,
    sweepLostJobs,
    sweepIdempotencyKeys,
    sweepAuditLog,
    sweepBulkOperations,
    applyRetention,
    ...(full ? [sweepStoredFiles, sweepMissingFiles] : []),
  ];
  for (const part of parts) {
    if (signal.aborted) return;
    await part(deps, signal).catch((error) =>
      deps.log[logLevelOf(error, "error")]({ err: error, part: part.name }, "a sweep failed"),
    );
  }
}

/** Stored responses must not be kept longer than needed, because they contain secrets. */
async function sweepIdempotencyKeys({ db, clock }: SweepDeps): Promise<void> {
  await deleteResponses(db, new Date(clock.now().getTime() - RESPONSE_RETENTION_MS));
}

async function sweepAuditLog({ db, clock, auditLogDays }: SweepDeps, signal: AbortSignal): Promise<void> {
  if (auditLogDays === undefined) return;
  const before = new Date(clock.now().getTime() - auditLogDays * DAY_MS);
  while (!signal.aborted && (await deleteAuditEvents(db, before)) > 0);
}

async function sweepBulkOperations({ db, clock }: SweepDeps): Promise<void> {
  const now = clock.now().getTime();
  await deleteOldOperations(db, {
    finishedBefore: new Date(now - OPERATION_RETENTION_MS),
    requestedBefore: new Date(now - DOWNLOAD_RETENTION_MS),
  });
}
