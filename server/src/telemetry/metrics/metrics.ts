import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { summarizeUnknownFiles } from "../../cleanup/unknown-file-queries.ts";
import type { Role } from "../../config/config.ts";
import type { Database } from "../../db/database.ts";
import type { Schema } from "../../db/schema.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { logLevelOf } from "../../lib/outages.ts";
import { queueDepth } from "../../queue/queue-depth.ts";
import type { StoreOwnership } from "../../storage/ownership/store-ownership.ts";
import type { AttemptReport } from "../../transcription/attempt-report.ts";
import type { DeliveryReport } from "../../webhooks/deliver.ts";
import { CachedQuery } from "./cached-query.ts";
import { createProcessMetrics, createStateMetrics, createWorkMetrics } from "./metric-groups.ts";

/** Scrapes within this time share one query. */
const CACHE_MS = 5_000;
/** Well below Prometheus' default scrape timeout of ten seconds. */
const QUERY_TIMEOUT_MS = 2_000;
const STALE_MS = 30_000;
/** Longer, because each query sends a request to a bucket. */
const STORAGE_CACHE_MS = 60_000;
const STORAGE_STALE_MS = 300_000;

export interface MetricsDeps {
  database: Database<Schema>;
  countWorkers(): Promise<number>;
  ownership: StoreOwnership;
  clock: Clock;
  log: Logger;
  version: string;
  role: Role;
  maxConcurrentPerEnvironment: number | null;
  dataFolder: string;
  token: string;
}

/** Prometheus metrics; see docs/metrics.md. */
export interface Metrics {
  onAttempt(attempt: AttemptReport): void;
  onDelivery(delivery: DeliveryReport): void;
  onSpeechProcess(): void;
  onItemFailed(task: string): void;
  /** Measures the app's requests and adds the metrics route. */
  register(app: FastifyInstance): void;
  close(): void;
}

export function openMetrics(deps: MetricsDeps): Metrics {
  const { database, countWorkers, ownership, clock, log, version, role, dataFolder, token } = deps;
  const { maxConcurrentPerEnvironment } = deps;
  const registry = new Registry();
  const state = createStateMetrics(registry);
  const work = createWorkMetrics(registry);
  const processMetrics = createProcessMetrics(registry, dataFolder);
  processMetrics.setBuild({ version, role, database: `${database.kind} ${database.version}` });
  const depth = new CachedQuery({
    query: async () => ({
      ...(await queueDepth(database.kysely, clock.now(), maxConcurrentPerEnvironment)),
      workers: await countWorkers(),
    }),
    cacheMs: CACHE_MS,
    timeoutMs: QUERY_TIMEOUT_MS,
    staleMs: STALE_MS,
    onError: (error) =>
      log[logLevelOf(error, "warn")]({ err: error }, "could not query the queue depth for the metrics"),
  });
  const stored = new CachedQuery({
    async query() {
      const [unknown, { isOwner }] = await Promise.all([
        summarizeUnknownFiles(database.kysely),
        ownership.state(),
      ]);
      return { unknownFiles: unknown.files, unknownBytes: unknown.bytes, deletionsStopped: !isOwner };
    },
    cacheMs: STORAGE_CACHE_MS,
    timeoutMs: QUERY_TIMEOUT_MS,
    staleMs: STORAGE_STALE_MS,
    onError: (error) =>
      log[logLevelOf(error, "warn")]({ err: error }, "could not read the state of the store for the metrics"),
  });

  const scrape = async () => {
    // Read before the queries below use a connection.
    processMetrics.setConnections(database.connections());
    const [queue, storage] = await Promise.all([depth.get(), stored.get(), processMetrics.collect()]);
    processMetrics.setDatabaseUp(!queue.failing);
    state.setStorage(storage.value);
    state.setQueue(queue.value, clock.now());
    return { contentType: registry.contentType, text: await registry.metrics() };
  };

  return {
    onAttempt: work.onAttempt,
    onDelivery: work.onDelivery,
    onSpeechProcess: processMetrics.onSpeechProcess,
    onItemFailed: work.onItemFailed,
    register(app) {
      work.measureRequests(app);
      registerMetricsRoute(app, { token, scrape });
    },
    close: processMetrics.close,
  };
}

/** Requires the token from `METRICS_TOKEN`. */
function registerMetricsRoute(
  app: FastifyInstance,
  { token, scrape }: { token: string; scrape: () => Promise<{ contentType: string; text: string }> },
): void {
  const expected = digest(`Bearer ${token}`);
  app.get("/metrics", async (request, reply) => {
    if (!timingSafeEqual(digest(request.headers.authorization ?? ""), expected)) {
      throw new AppError("metrics_token_invalid", "Send the token of METRICS_TOKEN as a bearer token.", {
        headers: { "www-authenticate": "Bearer" },
      });
    }
    const { contentType, text } = await scrape();
    return await reply.header("cache-control", "no-store").type(contentType).send(text);
  });
}

/** `timingSafeEqual` requires equal lengths. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
