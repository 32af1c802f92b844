import { AppError } from "./errors.ts";

/**
 * Of PostgreSQL: connection exceptions, insufficient resources, shut down, starting, become read-only, and ended
 * because the process, frozen perhaps, asked for nothing in the middle of a transaction.
 */
const STATES = /^(?:08|53|57P0[123]|25006|25P03)/;
/** Of the network. */
const NETWORK = new Set([
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
/** Of the driver and of the queue's library, which give these no codes. */
const MESSAGES =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|LISTEN\/NOTIFY heartbeat timed out)/;

/** Whether the database could not be asked, whatever the question was. */
export function isLostConnection(error: unknown): boolean {
  // The queue's library hands on copies of errors, which are no `Error`.
  const { code = "", message = "" } = (error ?? {}) as { code?: unknown; message?: unknown };
  return STATES.test(String(code)) || NETWORK.has(String(code)) || MESSAGES.test(String(message));
}

export function databaseAway(cause: unknown): AppError {
  return new AppError("service_unavailable", "The database does not answer now.", { cause });
}

/** By the service's name where it is a lost connection, else as it is. */
export function namedDatabaseError(error: unknown): unknown {
  return isLostConnection(error) ? databaseAway(error) : error;
}
