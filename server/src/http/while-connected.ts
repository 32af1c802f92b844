import type { IncomingMessage } from "node:http";
import { AppError } from "../lib/errors.ts";

/**
 * Runs long work whose result only this client needs. The signal aborts when the client closes the connection, or its
 * half of it: a process that ends does the latter first.
 */
export async function whileConnected<T>(
  { socket }: IncomingMessage,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const disconnected = new AbortController();
  const abort = () => disconnected.abort(new AppError("request_timeout", "The client has disconnected."));
  if (socket.readableEnded) abort();
  socket.once("end", abort).once("close", abort);
  try {
    return await work(disconnected.signal);
  } finally {
    // The connection may be kept alive for other requests.
    socket.off("end", abort).off("close", abort);
  }
}
