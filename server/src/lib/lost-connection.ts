import { AppError } from "./errors.ts";

/**
 * SQLSTATEs of connection exceptions, insufficient resources, shutdown, startup, a server that became read-only, and
 * `idle_in_transaction_session_timeout`, which a suspended process exceeds.
 */
const SQL_STATES = /^(?:08|53|57P0[123]|25006|25P03)/;
const NETWORK_CODES = new Set([
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);
/** Errors from the driver and pg-boss that have no code. */
const MESSAGES =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|LISTEN\/NOTIFY heartbeat timed out)/;

/** Checks whether an error means that the database is unreachable, rather than that a query failed. */
export function isLostConnection(error: unknown): boolean {
  // pg-boss passes on copies of errors, which are not instances of `Error`.
  const { code = "", message = "" } = (error ?? {}) as { code?: unknown; message?: unknown };
  return SQL_STATES.test(String(code)) || NETWORK_CODES.has(String(code)) || MESSAGES.test(String(message));
}

export function databaseUnavailable(cause: unknown): AppError {
  return new AppError("service_unavailable", "The database is unavailable.", { cause });
}

/** Converts the error of a lost connection to an AppError. Returns other errors unchanged. */
export function toDatabaseError(error: unknown): unknown {
  return isLostConnection(error) ? databaseUnavailable(error) : error;
}
