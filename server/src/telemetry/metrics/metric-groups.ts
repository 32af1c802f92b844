import type { FastifyInstance } from "fastify";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Connections } from "../../db/database.ts";
import { describeProcesses } from "../../lib/processes.ts";
import type { DeliveryReport } from "../../webhooks/deliver.ts";
import { watchProcess } from "./process-metrics.ts";
import { createQueueMetrics } from "./queue-metrics.ts";
import { createTranscriptionMetrics } from "./transcription-metrics.ts";

/*
 * All metrics, in the groups of docs/metrics.md. Its tables are generated from the registry, so help texts are Markdown.
 */

/** All processes report the same values. */
export function createStateMetrics(registry: Registry) {
  return { setQueue: createQueueMetrics(registry), setStorage: createStorageMetrics(registry) };
}

export function createWorkMetrics(registry: Registry) {
  const onAttempt = createTranscriptionMetrics(registry);
  const onDelivery = createDeliveryMetrics(registry);
  const itemErrors = new Counter({
    name: "subtext_item_errors_total",
    help: "Rows, files and jobs that could not be processed. The log identifies them. Processing continued with the others. `task`: `open_uploads`, `lost_jobs`, `retention`, `stored_files` and `missing_files` are tasks of the sweep; `model_waits` are transcriptions that could not be resumed after a model was installed; `bulk` counts videos of a bulk operation, and jobs of one that were returned to the queue; `transcribe`, `deliver`, `index`, `announce` and `poster` are jobs that were returned to the queue.",
    labelNames: ["task"],
    registers: [registry],
  });
  return {
    onAttempt,
    onDelivery,
    onItemFailed: (task: string) => itemErrors.inc({ task }),
    measureRequests: createRequestMetrics(registry),
  };
}

export function createProcessMetrics(registry: Registry, dataFolder: string) {
  const build = new Gauge({
    name: "subtext_build_info",
    help: "Always 1. The labels contain the running version.",
    labelNames: ["version", "role", "database"],
    registers: [registry],
  });
  return {
    setBuild: (labels: { version: string; role: string; database: string }) => build.set(labels, 1),
    ...createDatabaseMetrics(registry),
    ...watchProcess(registry, () => describeProcesses(process.pid), dataFolder),
  };
}

function createDatabaseMetrics(registry: Registry): {
  setDatabaseUp(isUp: boolean): void;
  /** @param connections without those of pg-boss */
  setConnections(connections: Connections): void;
} {
  const registers = [registry];
  const up = new Gauge({
    name: "subtext_database_up",
    help: "1 if the database responded to this process in time, otherwise 0.",
    registers,
  });
  const connections = new Gauge({
    name: "subtext_database_connections",
    help: "Connections of this process to the database: `busy` and `idle`. With PostgreSQL, the queue has up to five more.",
    labelNames: ["state"],
    registers,
  });
  const maximum = new Gauge({
    name: "subtext_database_connections_max",
    help: "Maximum number of connections of this process; 1 with the embedded database.",
    registers,
  });
  const waiting = new Gauge({
    name: "subtext_database_waiting",
    help: "Queries and transactions that are waiting for a connection.",
    registers,
  });
  return {
    setDatabaseUp: (isUp) => up.set(isUp ? 1 : 0),
    setConnections({ open, idle, max, waiting: queries }) {
      connections.set({ state: "busy" }, open - idle);
      connections.set({ state: "idle" }, idle);
      maximum.set(max);
      waiting.set(queries);
    },
  };
}

const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 1, 5, 30];
/** Other methods are counted together. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Groups requests by route pattern, because URLs contain identifiers. */
function createRequestMetrics(registry: Registry): (app: FastifyInstance) => void {
  const seconds = new Histogram({
    name: "subtext_http_request_seconds",
    help: "Response times of requests by route pattern (`none` if no route matches) and status class. `_count` is the number of requests. Uploads count with their full duration.",
    labelNames: ["method", "route", "status"],
    buckets: REQUEST_BUCKETS,
    registers: [registry],
  });
  return (app) => {
    app.addHook("onResponse", async (request, reply) => {
      seconds.observe(
        {
          method: METHODS.has(request.method) ? request.method : "other",
          route: (!request.is404 && request.routeOptions.url) || "none",
          status: `${Math.trunc(reply.statusCode / 100)}xx`,
        },
        reply.elapsedTime / 1000,
      );
    });
  };
}

interface StorageState {
  unknownFiles: number;
  unknownBytes: number;
  deletionsStopped: boolean;
}

/** @returns a function that sets the gauges, or removes them from the scrape if the state is null */
function createStorageMetrics(registry: Registry): (state: StorageState | null) => void {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const files = gauge(
    "subtext_unknown_files",
    "Stored files that the database has no record of. Each is deleted after 7 days.",
  );
  const bytes = gauge(
    "subtext_unknown_file_bytes",
    "Total size of stored files that the database has no record of.",
  );
  const stopped = gauge(
    "subtext_storage_deletions_stopped",
    "1 if stored files are not deleted because this database does not own the store, otherwise 0.",
  );
  return (state) => {
    if (state === null) {
      for (const each of [files, bytes, stopped]) each.remove();
      return;
    }
    files.set(state.unknownFiles);
    bytes.set(state.unknownBytes);
    stopped.set(state.deletionsStopped ? 1 : 0);
  };
}

/** Connecting and the response may each take 15 seconds. */
const ATTEMPT_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];
const DELAY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300];

function createDeliveryMetrics(registry: Registry): (delivery: DeliveryReport) => void {
  const registers = [registry];
  const attempts = new Counter({
    name: "subtext_webhook_attempts_total",
    help: "Webhook delivery attempts. `outcome`: `delivered`, `retried`, `given_up`, `endpoint_disabled`. `answer`: `2xx` … `5xx`, or `timeout`, `dns`, `connection`, `tls`, `protocol`, `refused_address`.",
    labelNames: ["outcome", "answer"],
    registers,
  });
  const seconds = new Histogram({
    name: "subtext_webhook_attempt_seconds",
    help: "Duration of webhook attempts, until the response headers or the failure. `outcome`: `delivered`, `failed`.",
    labelNames: ["outcome"],
    buckets: ATTEMPT_BUCKETS,
    registers,
  });
  const delay = new Histogram({
    name: "subtext_webhook_first_attempt_delay_seconds",
    help: "Time from the creation of a delivery to its first attempt.",
    buckets: DELAY_BUCKETS,
    registers,
  });

  return ({ number, createdAt, attemptedAt, latencyMs, status, failure, next }) => {
    const answer = status === null ? failure! : `${Math.trunc(status / 100)}xx`;
    attempts.inc({ outcome: OUTCOMES[next], answer });
    seconds.observe({ outcome: next === "delivered" ? "delivered" : "failed" }, latencyMs / 1000);
    if (number === 1) delay.observe(Math.max(0, attemptedAt.getTime() - createdAt.getTime()) / 1000);
  };
}

const OUTCOMES = {
  delivered: "delivered",
  retry: "retried",
  give_up: "given_up",
  disable_endpoint: "endpoint_disabled",
} as const satisfies Record<DeliveryReport["next"], string>;
