import type { Problem } from "@subtext/client/contract/problem";
import { pino } from "pino";
import type { Config } from "../config/config.ts";
import { type RunningService, readServiceFile } from "../lib/service-file.ts";
import { createLog } from "../telemetry/log.ts";
import { openServiceFor } from "./open-service.ts";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** The operator's API, wherever the service is. */
export interface InternalClient {
  /**
   * @param path below `/internal`
   * @returns the parsed answer; undefined where it has no body
   * @throws ProblemError
   */
  send<T>(method: Method, path: string, body?: unknown): Promise<T>;
  close(): Promise<void>;
}

/** What the service refused; the message is meant for people. */
export class ProblemError extends Error {
  readonly code: string;

  constructor({ code, detail }: Pick<Problem, "code" | "detail">) {
    super(detail);
    this.name = "ProblemError";
    this.code = code;
  }
}

/** Speaks with the service that runs on the data folder, else opens one in this process that takes no work. */
export async function connect(config: Config): Promise<InternalClient> {
  const running = await findRunning(config.dataFolder);
  return running === null ? await openInProcess(config) : overHttp(running);
}

/** Null where none runs; a file that a dead process has left behind counts for nothing. */
export async function findRunning(dataFolder: string): Promise<RunningService | null> {
  const running = await readServiceFile(dataFolder);
  return running !== null && isAlive(running.pid) && (await answers(running.url)) ? running : null;
}

export function overHttp({ url, token }: RunningService): InternalClient {
  return {
    async send(method, path, body) {
      const response = await fetch(`${url}/internal${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return parseAnswer(response.status, await response.text());
    },
    async close() {},
  };
}

/**
 * The same requests to an app that does not listen.
 * @throws Error where the service does not open, among them AppError `data_folder_in_use`
 */
export async function openInProcess(config: Config): Promise<InternalClient> {
  // Its faults belong beside the command's output, not in it.
  const log = createLog(
    config.logLevel === "silent" ? "silent" : "error",
    pino.destination({ fd: 2, sync: true }),
  );
  const { parts, stop } = await openServiceFor({ config, log, purpose: "command" });
  return {
    async send(method, path, body) {
      const { statusCode, payload } = await parts.app.inject({
        method,
        url: `/internal${path}`,
        headers: { authorization: `Bearer ${parts.commandLineToken}` },
        ...(body !== undefined && { payload: body as object }),
      });
      return parseAnswer(statusCode, payload);
    },
    close: stop,
  };
}

function parseAnswer<T>(status: number, text: string): T {
  const parsed = text === "" ? undefined : JSON.parse(text);
  if (status >= 400) throw new ProblemError(parsed as Problem);
  return parsed as T;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is alive as well.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether anything takes connections there. */
async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(`${url}/healthz`)).body?.cancel();
    return true;
  } catch (error) {
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    if (cause?.code === "ECONNREFUSED") return false;
    throw error;
  }
}
