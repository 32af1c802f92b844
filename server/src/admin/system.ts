import type { FastifyInstance } from "fastify";
import type { SettingInForce } from "../config/settings-reader.ts";
import type { System } from "../health/system.ts";
import { AppError } from "../lib/errors.ts";
import type { FindingView, SystemView } from "./contract/system.ts";

export interface SystemRouteDeps {
  system: System;
  /** As they are in force, without secrets. */
  settings: readonly SettingInForce[];
  /** Looks at every part of the service. */
  diagnose(): Promise<FindingView[]>;
  /** Looks at every file that a row names, which may take minutes; what is missing is in the next diagnosis. */
  checkFiles(signal: AbortSignal): Promise<number>;
}

/** How the service is doing. Only the doctor starts anything, the engines: who asks while he looks gets the same answer. */
export function registerSystem(
  app: FastifyInstance,
  { system, settings, diagnose, checkFiles }: SystemRouteDeps,
): void {
  app.get("/system", async (): Promise<SystemView> => await system.look());
  let diagnosis: Promise<FindingView[]> | null = null;
  app.get("/doctor", async () => {
    diagnosis ??= diagnose().finally(() => {
      diagnosis = null;
    });
    return { data: await diagnosis };
  });
  // They tell of paths and addresses inside, which are not for everybody who may sign in.
  app.get("/settings", async ({ actor }) => {
    if (actor === "command line") return { data: settings };
    throw new AppError("command_line_required", "Settings are told by the command line: npx subtext doctor");
  });
  app.post("/file-check", async ({ raw }): Promise<{ videos: number }> => {
    const gone = new AbortController();
    // Whoever closes one half of the connection does not wait for the answer of minutes either.
    if (raw.socket.readableEnded) gone.abort();
    for (const sign of ["end", "close"]) raw.socket.once(sign, () => gone.abort());
    return { videos: await checkFiles(gone.signal) };
  });
}
