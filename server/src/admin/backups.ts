import type { Backups } from "../backup/backups.ts";
import { handlersOf } from "./operation.ts";

export interface BackupDeps {
  backups: Backups;
}

export function backupHandlers({ backups }: BackupDeps) {
  return handlersOf({
    "POST /backup": async ({ body }) => backups.start(body.folder),
    "GET /backup": async () => ({ backup: backups.latest() }),
    "DELETE /backup": async () => await backups.stop(),
  });
}
