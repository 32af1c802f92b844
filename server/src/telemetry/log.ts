import { SpeechError } from "@subtext/speech/errors";
import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "../config/config.ts";

/** Error properties that are safe to log. Other properties may contain data from a query, a row or response headers. */
const LOGGED_ERROR_FIELDS = [
  ...["type", "message", "stack", "code", "errno", "syscall", "address", "port", "path"],
  // PostgreSQL's fields about the location of an error, without values.
  ...["severity", "routine", "schema", "table", "column", "constraint"],
];

/** Logs JSON to stdout. Headers, queries and bodies are not logged, because they contain keys and signed URLs. */
export function createLog(level: LogLevel, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    formatters: { level: (level: string) => ({ level }) },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    serializers: {
      req: (request: { id: string; method: string; url: string }) => ({
        id: request.id,
        method: request.method,
        path: request.url.replace(/\?.*$/s, ""),
      }),
      res: (reply: { statusCode: number }) => ({ status: reply.statusCode }),
      err: serializeError,
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

function serializeError(error: unknown): unknown {
  if (!isErrorLike(error)) return String(error);
  const shown = error instanceof Error ? pino.stdSerializers.err(error) : error;
  const fields = Object.entries(shown)
    .filter(([name, value]) => LOGGED_ERROR_FIELDS.includes(name) && typeof value !== "object")
    // The code and message of a SpeechError suffice; its stack would make up most of an operator's log.
    .filter(([name]) => name !== "stack" || !(error instanceof SpeechError))
    .map(([name, value]) => [name, name === "message" ? messageOf(error) : value])
    .map(([name, value]) => [name, typeof value === "string" ? withoutValues(value, error) : value]);
  // If several addresses were tried, the message of the `AggregateError` is empty.
  const errors = error instanceof AggregateError ? error.errors.map(serializeError) : [];
  return { ...Object.fromEntries(fields), ...(errors.length > 0 && { errors }) };
}

/** Joins the messages of an error and its causes without duplicates. */
function messageOf(error: ErrorLike): string {
  const messages: string[] = [];
  for (const { message } of withCauses(error)) {
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message);
  }
  return messages
    .map((message, index) => (index < messages.length - 1 ? message.replace(/\.$/, "") : message))
    .join(": ");
}

interface ErrorLike {
  message: string;
  code?: unknown;
  severity?: unknown;
  cause?: unknown;
}

/** pg-boss passes on copies of errors, which are not instances of `Error`. */
function isErrorLike(error: unknown): error is ErrorLike {
  return (
    typeof error === "object" && error !== null && "message" in error && typeof error.message === "string"
  );
}

/** SQLSTATEs of errors whose messages quote an invalid value or the query text. */
const STATES_WITH_VALUES = /^(?:22|42601)/;

function withCauses(error: ErrorLike): Set<ErrorLike> {
  const found = new Set<ErrorLike>();
  for (let each: unknown = error; isErrorLike(each) && !found.has(each); each = each.cause) found.add(each);
  return found;
}

/** Removes quoted values from the database error messages that the text contains. */
function withoutValues(text: string, error: ErrorLike): string {
  let safe = text;
  for (const { code, severity, message } of withCauses(error)) {
    if (severity === undefined || !STATES_WITH_VALUES.test(String(code))) continue;
    safe = safe.replaceAll(message, () => message.replace(/".*"/s, '"…"'));
  }
  return safe;
}
