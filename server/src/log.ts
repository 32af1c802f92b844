import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "./config.ts";

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
  if (!(error instanceof Error)) return String(error);
  const told = Object.entries(pino.stdSerializers.err(error)).filter(
    ([name, value]) => TOLD_OF_ERRORS.includes(name) && typeof value !== "object",
  );
  // Of a connection that was tried at several addresses, the message alone says nothing.
  const errors = error instanceof AggregateError ? error.errors.map(tellError) : [];
  return { ...Object.fromEntries(told), ...(errors.length > 0 && { errors }) };
}
