import type { SettingsReader } from "./settings-reader.ts";

export interface TracesConfig {
  /** URL of the collector, without a trailing slash. */
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  /** Fraction of traces to send, 0 … 1. */
  sampledRatio: number;
}

/** Long enough to resist guessing. Contains only characters that are allowed in a header. */
const METRICS_TOKEN = /^[\x21-\x7e]{16,}$/;

export function readMetricsToken(settings: SettingsReader): string | null {
  const token = settings.text("METRICS_TOKEN");
  if (token !== null && !METRICS_TOKEN.test(token)) {
    const expected = "it must have at least 16 printable ASCII characters and no spaces";
    settings.reportInvalid("METRICS_TOKEN", "…", expected);
  }
  return token;
}

/** The settings have OpenTelemetry's standard names. */
export function readTraces(settings: SettingsReader): TracesConfig | null {
  const endpoint = settings.url("OTEL_EXPORTER_OTLP_ENDPOINT", ["http:", "https:"]);
  // Without an endpoint, the other variables may be meant for other programs.
  if (endpoint === null) return null;
  const { username, password, search, hash } = new URL(endpoint);
  if (username || password || search || hash) {
    const expected =
      "it must not contain credentials or a query; use OTEL_EXPORTER_OTLP_HEADERS for credentials";
    settings.reportInvalid("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint, expected);
  }
  const ratio = settings.text("OTEL_TRACES_SAMPLER_ARG") ?? "";
  const sampledRatio = Number(ratio);
  if (!(sampledRatio >= 0 && sampledRatio <= 1)) {
    settings.reportInvalid("OTEL_TRACES_SAMPLER_ARG", ratio, "it must be a number from 0 to 1");
  }
  return {
    endpoint: endpoint.replace(/\/+$/, ""),
    headers: readHeaders(settings),
    serviceName: settings.text("OTEL_SERVICE_NAME") ?? "",
    sampledRatio,
  };
}

function readHeaders(settings: SettingsReader): Record<string, string> {
  const given = settings.text("OTEL_EXPORTER_OTLP_HEADERS") ?? "";
  const headers: Record<string, string> = {};
  for (const pair of given.split(",").filter((each) => each.trim() !== "")) {
    const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x20-\x7e]*?)\s*$/.exec(pair) ?? [];
    if (name === undefined || value === undefined) {
      const expected = "it must be name=value pairs, separated by commas";
      settings.reportInvalid("OTEL_EXPORTER_OTLP_HEADERS", "…", expected);
      return {};
    }
    headers[name] = decode(value);
  }
  return headers;
}

/** OpenTelemetry percent-encodes the values, as in the `baggage` header. */
function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
