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
  /** The one span that `start` starts, which has none above it, gets these ids. */
  startRoot<T>(ids: TraceIds, start: (tracer: Tracer) => T): T;
  shutdown(): Promise<void>;
}

/** OpenTelemetry's SDK on objects of our own: nothing of it is registered for the whole process. */
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
  const idGenerator = new ChosenIds();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": serviceName,
      "service.version": version,
      "service.instance.id": randomUUID(),
    }),
    // By the trace's id alone, not by what a span above says: so all processes choose alike.
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
      // What could not be sent has been told by the exporter.
      await provider.shutdown().catch(() => {});
    },
  };
}

/** Random ids, but for a root span that is told which ones to have. */
class ChosenIds implements IdGenerator {
  chosen: TraceIds | null = null;
  readonly #random = new RandomIdGenerator();

  generateTraceId(): string {
    return this.chosen?.traceId ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.chosen?.rootSpanId ?? this.#random.generateSpanId();
  }
}
