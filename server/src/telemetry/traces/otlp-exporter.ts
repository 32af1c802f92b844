import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";

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
