import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import type { Schema } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import type { StoreOwnership } from "../storage/ownership/store-ownership.ts";
import type { AttemptReport } from "../transcription/attempt-report.ts";
import type { AcceptedReport } from "../uploads/accepted-report.ts";
import type { DeliveryReport } from "../webhooks/deliver.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Traces } from "./traces/traces.ts";

export interface TelemetryDeps {
  config: Config;
  database: Database<Schema>;
  countWorkers(): Promise<number>;
  ownership: StoreOwnership;
  clock: Clock;
  log: Logger;
  version: string;
}

/** Receives reports for metrics and traces. Never throws. */
export interface Telemetry {
  onAccepted(accepted: AcceptedReport): void;
  onAttempt(attempt: AttemptReport): void;
  onDelivery(delivery: DeliveryReport): void;
  onSpeechProcess(): void;
  onItemFailed(task: string): void;
  /** Call this for each app that listens. */
  register(app: FastifyInstance): void;
  /** Flushes pending data. Call this when no work is running. */
  close(): Promise<void>;
}

/** Opens metrics and traces. Loads their code only if they are configured. */
export async function openTelemetry(deps: TelemetryDeps): Promise<Telemetry> {
  const metrics = await startMetrics(deps);
  const traces = await startTraces(deps);
  const report = (how: (metrics: Metrics | null, traces: Traces | null) => void) => {
    try {
      how(metrics, traces);
    } catch (error) {
      // An error in telemetry must not affect the work.
      deps.log.error({ err: error }, "could not record metrics or traces");
    }
  };
  return {
    onAccepted: (accepted) => report((_metrics, traces) => traces?.onAccepted(accepted)),
    onAttempt(attempt) {
      report((metrics) => metrics?.onAttempt(attempt));
      report((_metrics, traces) => traces?.onAttempt(attempt));
    },
    onDelivery(delivery) {
      report((metrics) => metrics?.onDelivery(delivery));
      report((_metrics, traces) => traces?.onDelivery(delivery));
    },
    onSpeechProcess: () => report((metrics) => metrics?.onSpeechProcess()),
    onItemFailed: (task) => report((metrics) => metrics?.onItemFailed(task)),
    register: (app) => metrics?.register(app),
    async close() {
      metrics?.close();
      await traces?.close();
    },
  };
}

async function startMetrics({ config, ...deps }: TelemetryDeps): Promise<Metrics | null> {
  const { metricsToken: token, role, dataFolder, maxConcurrentPerEnvironment } = config;
  if (token === null) return null;
  const { openMetrics } = await import("./metrics/metrics.ts");
  return openMetrics({ ...deps, role, dataFolder, token, maxConcurrentPerEnvironment });
}

async function startTraces({ config, log, version }: TelemetryDeps): Promise<Traces | null> {
  if (config.traces === null) return null;
  const { endpoint, headers, serviceName, sampledRatio } = config.traces;
  const { openTraces, createOtlpExporter } = await import("./traces/traces.ts");
  const exporter = createOtlpExporter({ endpoint, headers, log });
  return openTraces({ exporter, serviceName, version, sampledRatio });
}
