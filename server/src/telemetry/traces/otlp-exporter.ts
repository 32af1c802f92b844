import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";

/** Timeout of one batch including its retries, and of a shutdown while the collector hangs. */
const SEND_TIMEOUT_MS = 5_000;
const WARN_EVERY_MS = 60_000;

/**
 * Sends spans as OTLP over HTTP, in JSON. Drops spans that cannot be sent and logs this at most once a minute.
 * @param endpoint of the collector, without `/v1/traces`
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
