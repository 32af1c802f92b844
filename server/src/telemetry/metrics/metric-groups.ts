import { Counter, Gauge, type Registry } from "prom-client";
import { describeProcesses } from "../../lib/processes.ts";
import { reportDatabase } from "./database-metrics.ts";
import { countDeliveries } from "./delivery-metrics.ts";
import { watchProcess } from "./process-metrics.ts";
import { createQueueMetrics } from "./queue-metrics.ts";
import { measureRequests } from "./request-metrics.ts";
import { reportStorage } from "./storage-metrics.ts";
import { countTranscriptions } from "./transcription-metrics.ts";

/*
 * All metrics, in the groups of docs/metrics.md. Its tables are generated from the registry, so help texts are Markdown.
 */

/** All processes report the same values. */
export function createStateMetrics(registry: Registry) {
  return { setQueue: createQueueMetrics(registry), setStorage: reportStorage(registry) };
}

export function createWorkMetrics(registry: Registry) {
  const onAttempt = countTranscriptions(registry);
  const onDelivery = countDeliveries(registry);
  const itemErrors = new Counter({
    name: "subtext_item_errors_total",
    help: "Rows and files that could not be processed. The log identifies them, and the others were processed. `open_uploads`, `lost_jobs`, `retention`, `stored_files`, `missing_files` and `model_waits` are tasks of the sweep; `bulk` counts videos of a bulk operation; `transcribe`, `deliver`, `index` and `poster` are jobs that were returned to the queue.",
    labelNames: ["task"],
    registers: [registry],
  });
  return {
    onAttempt,
    onDelivery,
    onItemFailed: (task: string) => itemErrors.inc({ task }),
    measureRequests: measureRequests(registry),
  };
}

export function createProcessMetrics(registry: Registry, dataFolder: string) {
  const build = new Gauge({
    name: "subtext_build_info",
    help: "Always 1. The labels contain the running version.",
    labelNames: ["version", "role", "database"],
    registers: [registry],
  });
  const { setUp, setConnections } = reportDatabase(registry);
  return {
    setBuild: (labels: { version: string; role: string; database: string }) => build.set(labels, 1),
    setDatabaseUp: setUp,
    setConnections,
    ...watchProcess(registry, () => describeProcesses(process.pid), dataFolder),
  };
}
