import { availableParallelism, freemem, loadavg, totalmem } from "node:os";
import type { Logger } from "pino";
import type { DiskUseView, EngineView, HourView, SystemView } from "../admin/contract/system.ts";
import type { Config } from "../config/config.ts";
import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { logLevelOf } from "../lib/outages.ts";
import { describeProcesses } from "../lib/processes.ts";
import { countEndedInLastDay, type EndedGroup } from "../queue/throughput.ts";
import { uploadedFileName } from "../resources/serializers.ts";
import type { Models } from "../speech/models.ts";
import { diskSpace, diskUsage } from "../storage/disk/disk-usage.ts";
import { countQueue, databaseBytes, listRunning, sumUploads } from "./queries.ts";

const HOURS = 24;
const MAX_RUNNING = 20;
/** Minimum interval between reads of the system's state. All clients share a result. */
const MIN_INTERVAL_MS = 1_000;
/** Maximum share of time spent on reads. A read takes 0.2 s after a day with 100,000 completed videos. */
const MAX_TIME_SHARE = 0.05;
const MEASURE_DISK_INTERVAL_MS = 5 * 60_000;

const STATUS_FIELDS = { COMPLETED: "completed", FAILED: "failed", SKIPPED: "skipped" } as const;

export interface System {
  /** Returns the state of the service, which may be cached. */
  read(): Promise<SystemView>;
}

export interface SystemDeps {
  db: Db;
  config: Pick<Config, "dataFolder" | "databaseUrl">;
  models: Models;
  clock: Clock;
  log: Logger;
  version: string;
}

export function openSystem(deps: SystemDeps): System {
  const startedAt = deps.clock.now();
  const readDiskUse = createDiskUseReader(deps);
  let last: Promise<SystemView> | undefined;
  let expiresAt = 0;
  const query = async () => {
    const startedMs = performance.now();
    expiresAt = Number.POSITIVE_INFINITY;
    try {
      const system = await readSystem(deps, startedAt, readDiskUse());
      const tookMs = performance.now() - startedMs;
      expiresAt = startedMs + Math.max(MIN_INTERVAL_MS, tookMs / MAX_TIME_SHARE);
      return system;
    } catch (error) {
      expiresAt = performance.now() + MIN_INTERVAL_MS;
      throw error;
    }
  };
  return {
    read() {
      if (!last || performance.now() >= expiresAt) last = query();
      return last;
    },
  };
}

async function readSystem(
  { db, config, models, clock, version }: SystemDeps,
  startedAt: Date,
  use: DiskUseView | null,
): Promise<SystemView> {
  const now = clock.now();
  const [queue, running, ended, space, processes] = await Promise.all([
    countQueue(db),
    listRunning(db, MAX_RUNNING),
    countEndedInLastDay(db, now),
    diskSpace(config.dataFolder),
    describeProcesses(process.pid),
  ]);
  const { wanted, state, folder, progress, error, hint, nextTryAt } = models.state();
  return {
    version,
    now: now.toISOString(),
    startedAt: startedAt.toISOString(),
    queue: { ...queue, oldestPendingAt: queue.oldestPendingAt?.toISOString() ?? null },
    running: running.map((row) => ({
      videoId: row.id,
      environmentId: row.environment_id,
      filename: uploadedFileName(row.metadata),
      progress: row.progress,
      remainingSeconds: row.remaining_seconds,
      startedAt: row.started_at?.toISOString() ?? null,
    })),
    hours: byHour(ended),
    engines: byEngine(ended),
    model: {
      wanted,
      state,
      folder,
      speed: models.speed(),
      progress: progress && {
        receivedBytes: progress.receivedBytes,
        totalBytes: progress.totalBytes,
        bytesPerSecond: progress.bytesPerSecond,
        remainingSeconds: progress.remainingSeconds,
      },
      error,
      hint,
      nextTryAt,
    },
    disk: { folder: config.dataFolder, ...space, use },
    machine: {
      cores: availableParallelism(),
      load: loadavg()[0]!,
      memoryBytes: totalmem(),
      freeMemoryBytes: freemem(),
    },
    processes,
  };
}

function byHour(groups: EndedGroup[]): HourView[] {
  const hours = Array.from({ length: HOURS }, () => ({
    completed: 0,
    failed: 0,
    skipped: 0,
    mediaSeconds: 0,
  }));
  for (const { hoursAgo, status, count, mediaSeconds } of groups) {
    const hour = hours[HOURS - 1 - hoursAgo];
    if (!hour) continue;
    hour[STATUS_FIELDS[status]] += count;
    if (status === "COMPLETED") hour.mediaSeconds += mediaSeconds;
  }
  return hours;
}

function byEngine(groups: EndedGroup[]): EngineView[] {
  const engines = new Map<string, EngineView>();
  for (const { status, engine, count, mediaSeconds, workSeconds } of groups) {
    if (status !== "COMPLETED" || engine === null) continue;
    const known = engines.get(engine) ?? { name: engine, completed: 0, mediaSeconds: 0, workSeconds: 0 };
    known.completed += count;
    known.mediaSeconds += mediaSeconds;
    known.workSeconds += workSeconds;
    engines.set(engine, known);
  }
  return [...engines.values()].sort((a, b) => b.mediaSeconds - a.mediaSeconds);
}

/** Returns a function that returns the last measurement, and refreshes it in the background if it is old. */
function createDiskUseReader({ db, config, clock, log }: SystemDeps): () => DiskUseView | null {
  let known: DiskUseView | null = null;
  let lastAt = Number.NEGATIVE_INFINITY;
  const measure = async () => {
    const [uploads, folders, elsewhere] = await Promise.all([
      sumUploads(db),
      diskUsage(config.dataFolder),
      config.databaseUrl === null ? null : databaseBytes(db),
    ]);
    const parts = elsewhere === null ? folders : [...folders, { name: "database", bytes: elsewhere }];
    known = {
      measuredAt: clock.now().toISOString(),
      videos: uploads.videos,
      uploadedBytes: uploads.bytes,
      parts,
    };
  };
  return () => {
    const at = performance.now();
    if (at - lastAt >= MEASURE_DISK_INTERVAL_MS) {
      lastAt = at;
      measure().catch((error) =>
        log[logLevelOf(error, "warn")]({ err: error }, "the disk usage could not be measured"),
      );
    }
    return known;
  };
}
