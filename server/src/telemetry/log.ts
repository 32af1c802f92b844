import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "../config/config.ts";

/** Of an error; others may hold values: of the query that failed, of its row, of an answer's headers. */
const TOLD_OF_ERRORS = [
  ...["type", "message", "stack", "code", "errno", "syscall", "address", "port", "path"],
  // What PostgreSQL says of the place, not of the values.
  ...["severity", "routine", "schema", "table", "column", "constraint"],
];

/** Structured logs on stdout. Headers, queries and bodies are never logged: they hold keys and signed URLs. */
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
      err: tellError,
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

function tellError(error: unknown): unknown {
  if (!isErrorLike(error)) return String(error);
  const shown = error instanceof Error ? pino.stdSerializers.err(error) : error;
  const told = Object.entries(shown)
    .filter(([name, value]) => TOLD_OF_ERRORS.includes(name) && typeof value !== "object")
    .map(([name, value]) => [name, name === "message" ? messageOf(error) : value])
    .map(([name, value]) => [name, typeof value === "string" ? withoutValues(value, error) : value]);
  // Of a connection that was tried at several addresses, the message alone says nothing.
  const errors = error instanceof AggregateError ? error.errors.map(tellError) : [];
  return { ...Object.fromEntries(told), ...(errors.length > 0 && { errors }) };
}

/** What an error and its causes say, each thing once. */
function messageOf(error: ErrorLike): string {
  const messages: string[] = [];
  for (const { message } of withCauses(error)) {
    if (!messages.some((said) => said.includes(message))) messages.push(message);
  }
  return messages.join(": ");
}

interface ErrorLike {
  message: string;
  code?: unknown;
  severity?: unknown;
  cause?: unknown;
}

/** Also the copies that the queue's library hands on, which are no `Error`. */
function isErrorLike(error: unknown): error is ErrorLike {
  return (
    typeof error === "object" && error !== null && "message" in error && typeof error.message === "string"
  );
}

/** Of PostgreSQL: what is wrong with a value, or with a text that it was to read; both are quoted. */
const STATES_WITH_VALUES = /^(?:22|42601)/;

function withCauses(error: ErrorLike): Set<ErrorLike> {
  const found = new Set<ErrorLike>();
  for (let each: unknown = error; isErrorLike(each) && !found.has(each); each = each.cause) found.add(each);
  return found;
}

/** A text that repeats what an error and its causes say, without the values that those of the database quote. */
function withoutValues(text: string, error: ErrorLike): string {
  let safe = text;
  for (const { code, severity, message } of withCauses(error)) {
    if (severity === undefined || !STATES_WITH_VALUES.test(String(code))) continue;
    safe = safe.replaceAll(message, () => message.replace(/".*"/s, '"…"'));
  }
  return safe;
}
