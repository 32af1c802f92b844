import type { FastifyRequest } from "fastify";
import { AppError } from "../lib/errors.ts";

/**
 * Returns a signal that is aborted when the client no longer waits for the response. It is also aborted if the client has
 * closed only its half of the connection, so use it only for clients that keep theirs open.
 */
export function disconnectSignal({ raw: { socket } }: FastifyRequest): AbortSignal {
  const disconnected = new AbortController();
  const abort = () => disconnected.abort(new AppError("request_timeout", "The client has disconnected."));
  if (socket.readableEnded) abort();
  for (const event of ["end", "close"]) socket.once(event, abort);
  return disconnected.signal;
}
