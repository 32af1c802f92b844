import { randomUUID } from "node:crypto";
import type { Tracer } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { TraceIds } from "./trace-ids.ts";

const SCOPE = "subtext";
const SEND_EVERY_MS = 2_000;

export interface OpenTracer {
  tracer: Tracer;
  /** Calls `start`, which may create only one root span. That span gets these ids. */
  startRoot<T>(ids: TraceIds, start: (tracer: Tracer) => T): T;
  shutdown(): Promise<void>;
}

/** Sets up OpenTelemetry's SDK without global registration. */
export function openTracer({
  exporter,
  serviceName,
  version,
  sampledRatio,
}: {
  exporter: SpanExporter;
  serviceName: string;
  version: string;
  sampledRatio: number;
}): OpenTracer {
  const idGenerator = new RootIdGenerator();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": serviceName,
      "service.version": version,
      "service.instance.id": randomUUID(),
    }),
    // Samples by the trace id instead of the parent's flag, so that all processes make the same decision.
    sampler: new TraceIdRatioBasedSampler(sampledRatio),
    idGenerator,
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: SEND_EVERY_MS })],
  });
  const tracer = provider.getTracer(SCOPE, version);
  return {
    tracer,
    startRoot(ids, start) {
      idGenerator.chosen = ids;
      try {
        return start(tracer);
      } finally {
        idGenerator.chosen = null;
      }
    },
    async shutdown() {
      // The exporter has logged the failure.
      await provider.shutdown().catch(() => {});
    },
  };
}

class RootIdGenerator implements IdGenerator {
  chosen: TraceIds | null = null;
  readonly #random = new RandomIdGenerator();

  generateTraceId(): string {
    return this.chosen?.traceId ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.chosen?.rootSpanId ?? this.#random.generateSpanId();
  }
}
