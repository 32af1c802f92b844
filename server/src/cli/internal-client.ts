import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Problem } from "@subtext/client/contract/problem";
import { pino } from "pino";
import { type Arguments, type InputOf, pathOf, type ResponseOf } from "../admin/contract/operation.ts";
import type { AdminOperations, OperationKey } from "../admin/operation.ts";
import type { Config } from "../config/config.ts";
import { type RunningService, readServiceFile } from "../lib/service-file.ts";
import { createLog } from "../telemetry/log.ts";
import { openServiceFor } from "./open-service.ts";

/** A client of the admin API. The service runs in another process or in this one. */
export interface InternalClient {
  /**
   * Calls an operation, e.g. `send("GET /environments")`.
   * @returns the parsed response; undefined if it has no body
   * @throws ProblemError
   */
  send<Key extends OperationKey>(
    operation: Key,
    ...input: Arguments<InputOf<Key, AdminOperations[Key]>>
  ): Promise<ResponseOf<AdminOperations[Key]>>;
  close(): Promise<void>;
}

/** An error response of the service. */
export class ProblemError extends Error {
  readonly code: string;

  constructor({ code, detail }: Pick<Problem, "code" | "detail">) {
    super(detail);
    this.name = "ProblemError";
    this.code = code;
  }
}

/** Connects to the running service. If none is running, opens it in this process, without running jobs. */
export async function connect(config: Config): Promise<InternalClient> {
  const running = await findRunning(config.dataFolder);
  return running === null ? await openInProcess(config) : connectOverHttp(running);
}

/** Returns null if no service is running, even if a crashed process has left its service file. */
export async function findRunning(dataFolder: string): Promise<RunningService | null> {
  const running = await readServiceFile(dataFolder);
  return running !== null && isAlive(running.pid) && (await isListening(running.url)) ? running : null;
}

export function connectOverHttp({ url, token }: RunningService): InternalClient {
  return {
    async send(operation, ...input) {
      const { method, path, body } = buildRequest(operation, input[0] as AnyInput);
      // `fetch` waits at most 5 minutes for a response. Some operations take longer, such as a check of all files.
      const outgoing = request(`${url}/internal${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
      });
      // `once` reports errors before the response, and `text` those of the response.
      outgoing.on("error", () => {});
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
      const [response] = (await once(outgoing, "response")) as [IncomingMessage];
      return parseResponse(response.statusCode ?? 0, await text(response));
    },
    async close() {},
  };
}

/**
 * Opens the service in this process and sends requests to it without a socket.
 * @throws Error if the service cannot be opened, for example AppError `data_folder_in_use`
 */
export async function openInProcess(config: Config): Promise<InternalClient> {
  // Writes the error log to stderr, so that it does not mix with the command's output.
  const log = createLog(
    config.logLevel === "silent" ? "silent" : "error",
    pino.destination({ fd: 2, sync: true }),
  );
  const { parts, stop } = await openServiceFor({ config, log, purpose: "command" });
  return {
    async send(operation, ...input) {
      const { method, path, body } = buildRequest(operation, input[0] as AnyInput);
      const { statusCode, payload } = await parts.app.inject({
        method,
        url: `/internal${path}`,
        headers: { authorization: `Bearer ${parts.commandLineToken}` },
        ...(body !== undefined && { payload: body as object }),
      });
      return parseResponse(statusCode, payload);
    },
    close: stop,
  };
}

interface AnyInput {
  params?: object;
  query?: object;
  body?: unknown;
}

function buildRequest(operation: OperationKey, input: AnyInput = {}) {
  const method = operation.slice(0, operation.indexOf(" ")) as "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  return { method, path: pathOf(operation, input), body: input.body };
}

function parseResponse<T>(status: number, body: string): T {
  const parsed = body === "" ? undefined : JSON.parse(body);
  if (status >= 400) throw new ProblemError(parsed as Problem);
  return parsed as T;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process is alive but belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Returns whether a server accepts connections at the URL. */
async function isListening(url: string): Promise<boolean> {
  try {
    await (await fetch(`${url}/healthz`)).body?.cancel();
    return true;
  } catch (error) {
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    if (cause?.code === "ECONNREFUSED") return false;
    throw error;
  }
}
