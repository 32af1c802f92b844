import type { Backups } from "../backup/backups.ts";
import type { EffectiveSetting } from "../config/settings-reader.ts";
import type { System } from "../health/system.ts";
import { whileConnected } from "../http/while-connected.ts";
import type { FindingView } from "./contract/system.ts";
import { defineHandlers } from "./operation.ts";

export interface SystemDeps {
  system: System;
  /** Effective settings, without secrets. */
  settings: EffectiveSetting[];
  diagnose(): Promise<FindingView[]>;
  /**
   * Checks whether every file that a row references exists, which may take minutes. The next `diagnose` reports the
   * missing files.
   * @returns the number of checked videos
   */
  checkFiles(signal: AbortSignal): Promise<number>;
  backups: Backups;
}

export function systemHandlers({ system, settings, diagnose, checkFiles, backups }: SystemDeps) {
  let diagnosis: Promise<FindingView[]> | null = null;
  return defineHandlers({
    "GET /system": async () => await system.read(),

    "GET /doctor": async () => {
      // A diagnosis starts the engines, so concurrent requests share one run.
      diagnosis ??= diagnose().finally(() => {
        diagnosis = null;
      });
      return { data: await diagnosis };
    },

    "GET /settings": async () => ({ data: settings }),

    "POST /file-check": async ({ request }) => ({ videos: await whileConnected(request.raw, checkFiles) }),

    "POST /backup": async ({ body }) => backups.start(body.folder),
    "GET /backup": async () => ({ backup: backups.latest() }),
    "DELETE /backup": async () => await backups.stop(),
  });
}
