import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import type { AttemptReport } from "../../transcription/attempt-report.ts";
import type { AcceptedReport } from "../../uploads/accepted-report.ts";
import type { DeliveryReport } from "../../webhooks/deliver.ts";
import { traceIdsOf } from "./trace-ids.ts";
import { openTracer } from "./tracer.ts";

export interface TracesOptions {
  exporter: SpanExporter;
  serviceName: string;
  version: string;
  /** Fraction of traces to send, 0 to 1. All processes sample the same ones. */
  sampledRatio: number;
}

/**
 * Records a trace for each transcription across processes, from the upload to the last delivery. Spans are created from
 * recorded times when their operation has ended, so no state is kept.
 */
export interface Traces {
  onAccepted(accepted: AcceptedReport): void;
  onAttempt(attempt: AttemptReport): void;
  onDelivery(delivery: DeliveryReport): void;
  /** Flushes pending spans. Never rejects. */
  close(): Promise<void>;
}

interface Span {
  name: string;
  kind?: SpanKind;
  from: Date;
  to: Date;
  attributes?: Attributes;
  /** Set if the operation failed. */
  error?: string | null;
}

export function openTraces(options: TracesOptions): Traces {
  const { tracer, startRoot, shutdown } = openTracer(options);

  return {
    onAccepted({ videoId, transcriptionId, sizeBytes, createdAt, uploadedAt, acceptedAt }) {
      const upload = startRoot(traceIdsOf(transcriptionId), (root) =>
        write(root, ROOT_CONTEXT, {
          name: "upload",
          kind: SpanKind.SERVER,
          from: createdAt,
          to: uploadedAt,
          attributes: {
            "subtext.video.id": videoId,
            "subtext.transcription.id": transcriptionId,
            "subtext.upload.size": sizeBytes,
          },
        }),
      );
      write(tracer, upload, { name: "accept", from: uploadedAt, to: acceptedAt });
    },

    onAttempt(attempt) {
      const { transcriptionId, queuedAt, startedAt, fetchedAt, decodedAt, transcribedAt, endedAt } = attempt;
      const above = below(transcriptionId);
      if (queuedAt) write(tracer, above, { name: "queue", from: queuedAt, to: startedAt });
      const failed =
        attempt.outcome === "lost" || attempt.outcome === "failed" || attempt.outcome === "returned";
      const within = write(tracer, above, {
        name: "transcribe",
        kind: SpanKind.CONSUMER,
        from: startedAt,
        to: endedAt,
        attributes: {
          "subtext.video.id": attempt.videoId,
          "subtext.transcription.id": transcriptionId,
          "subtext.attempt.number": attempt.number,
          "subtext.attempt.outcome": attempt.outcome,
          ...(attempt.reason !== null && { "subtext.attempt.reason": attempt.reason }),
          ...(attempt.transcript && {
            "subtext.engine": attempt.transcript.engine,
            "subtext.media.duration": attempt.transcript.duration,
            "subtext.words": attempt.transcript.wordCount,
          }),
        },
        error: failed ? (attempt.reason ?? attempt.outcome) : null,
      });
      const stage = (name: string, from: Date | null, to: Date | null) => {
        if (from && to) write(tracer, within, { name, from, to });
      };
      stage("fetch", startedAt, fetchedAt);
      stage("decode", fetchedAt, decodedAt);
      stage("recognize", fetchedAt, transcribedAt);
      stage("store", transcribedAt, endedAt);
    },

    onDelivery({ transcriptionId, deliveryId, endpointId, number, attemptedAt, latencyMs, ...result }) {
      // A test event has no transcription.
      if (transcriptionId === null) return;
      const { status, failure, next } = result;
      write(tracer, below(transcriptionId), {
        name: "deliver",
        kind: SpanKind.CLIENT,
        from: attemptedAt,
        to: new Date(attemptedAt.getTime() + latencyMs),
        attributes: {
          "http.request.method": "POST",
          "subtext.delivery.id": deliveryId,
          "subtext.endpoint.id": endpointId,
          "subtext.delivery.attempt": number,
          "subtext.delivery.next": next,
          ...(status !== null && { "http.response.status_code": status }),
        },
        error: next === "delivered" ? null : (failure ?? `status ${status}`),
      });
    },

    close: shutdown,
  };
}

/** Returns the parent of all spans of a transcription: the upload's span, which another process may have sent. */
function below(transcriptionId: string): Context {
  const { traceId, rootSpanId } = traceIdsOf(transcriptionId);
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId: rootSpanId,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
}

/** @returns the context for child spans */
function write(tracer: Tracer, above: Context, { name, kind, from, to, attributes, error }: Span): Context {
  const span = tracer.startSpan(
    name,
    { startTime: from, ...(kind !== undefined && { kind }), ...(attributes && { attributes }) },
    above,
  );
  if (error) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
  span.end(to);
  return trace.setSpan(above, span);
}

/** Timeout for a batch including its retries, and for a shutdown. */
const SEND_TIMEOUT_MS = 5_000;
const WARN_EVERY_MS = 60_000;

/**
 * Sends spans as JSON with OTLP over HTTP. Drops spans that cannot be sent, and warns at most once a minute.
 * @param endpoint the collector's URL without `/v1/traces`
 */
export function createOtlpExporter({
  endpoint,
  headers,
  log,
}: {
  endpoint: string;
  headers: Record<string, string>;
  log: Logger;
}): SpanExporter {
  const otlp = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    headers,
    timeoutMillis: SEND_TIMEOUT_MS,
  });
  let warnedAt = Number.NEGATIVE_INFINITY;
  return {
    export(spans, done) {
      otlp.export(spans, (result) => {
        if (result.error && performance.now() - warnedAt > WARN_EVERY_MS) {
          warnedAt = performance.now();
          log.warn({ err: result.error, spans: spans.length }, "spans could not be sent to the collector");
        }
        done(result);
      });
    },
    shutdown: () => otlp.shutdown(),
    forceFlush: () => otlp.forceFlush(),
  };
}
