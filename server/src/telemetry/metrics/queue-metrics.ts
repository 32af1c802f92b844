import { Gauge, type Registry } from "prom-client";
import type { QueueDepth } from "../../queue/queue-depth.ts";

/**
 * Groups environments by the waiting time of their oldest transcription, because metrics must not expose their names.
 */
const WAITED_AT_LEAST_SECONDS = [0, 60, 600, 3600];

/**
 * All processes report the same values, so use `max()` instead of `sum()`.
 * @returns a function that updates the gauges. It removes unknown values from the scrape
 */
export function createQueueMetrics(
  registry: Registry,
): (depth: (QueueDepth & { workers: number }) | null, now: Date) => void {
  const gauge = <T extends string>(name: string, help: string, ...labelNames: T[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const transcriptions = gauge(
    "subtext_queue_transcriptions",
    "Transcriptions. `status`: `waiting` for a worker, `delayed` until the time of the next attempt, `capped` until the environment is below its cap, `processing`.",
    "status",
  );
  const oldest = gauge(
    "subtext_queue_oldest_waiting_seconds",
    "Longest time that a transcription has been waiting for a worker; 0 if none is waiting.",
  );
  const environments = gauge(
    "subtext_queue_environments",
    "Environments with a transcription that has been waiting for a worker for at least 0, 60, 600 or 3600 seconds.",
    "waited_at_least",
  );
  const largestBacklog = gauge(
    "subtext_queue_environment_waiting_max",
    "Largest number of waiting transcriptions in one environment.",
  );
  const deliveries = gauge(
    "subtext_queue_deliveries",
    "Webhook deliveries. `status`: `due`, or `scheduled` for later.",
    "status",
  );
  const oldestDelivery = gauge(
    "subtext_queue_oldest_due_delivery_seconds",
    "How long the oldest due delivery has been due; 0 if no delivery is due.",
  );
  const workers = gauge(
    "subtext_workers",
    "Processes with the role `worker` or `all` that are connected to the database, scraped or not.",
  );
  const byLabel = [transcriptions, environments, deliveries];
  const withoutLabels = [oldest, largestBacklog, oldestDelivery, workers];

  return (depth, now) => {
    if (depth === null) {
      for (const each of byLabel) each.reset();
      // After a reset, a gauge without labels would report 0, which means an empty queue.
      for (const each of withoutLabels) each.remove();
      return;
    }
    const ages = depth.environments.flatMap(({ waitingSince }) =>
      waitingSince ? [secondsSince(waitingSince, now)] : [],
    );
    for (const status of ["waiting", "delayed", "capped"] as const) {
      transcriptions.set(
        { status },
        depth.environments.reduce((sum, environment) => sum + environment[status], 0),
      );
    }
    workers.set(depth.workers);
    transcriptions.set({ status: "processing" }, depth.processing);
    oldest.set(Math.max(0, ...ages));
    for (const seconds of WAITED_AT_LEAST_SECONDS) {
      environments.set({ waited_at_least: String(seconds) }, ages.filter((age) => age >= seconds).length);
    }
    largestBacklog.set(Math.max(0, ...depth.environments.map(({ waiting }) => waiting)));
    deliveries.set({ status: "due" }, depth.deliveries.due);
    deliveries.set({ status: "scheduled" }, depth.deliveries.scheduled);
    oldestDelivery.set(depth.deliveries.dueSince ? secondsSince(depth.deliveries.dueSince, now) : 0);
  };
}

function secondsSince(at: Date, now: Date): number {
  return Math.max(0, now.getTime() - at.getTime()) / 1000;
}
