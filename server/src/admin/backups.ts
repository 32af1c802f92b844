import type { Backups } from "../backup/backups.ts";
import { defineHandlers } from "./operation.ts";

export interface BackupDeps {
  backups: Backups;
}

export function backupHandlers({ backups }: BackupDeps) {
  return defineHandlers({
    "POST /backup": async ({ body }) => backups.start(body.folder),
    "GET /backup": async () => ({ backup: backups.latest() }),
    "DELETE /backup": async () => await backups.stop(),
  });
}
