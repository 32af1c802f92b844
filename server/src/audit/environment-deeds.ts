import type { AuditDetail } from "../db/enums.ts";
import type { EnvironmentRow } from "../db/schema.ts";
import type { Deed } from "./audit.ts";

/** What was changed of an environment; nothing for what was set to what it was. */
export function environmentDeeds(before: EnvironmentRow, after: EnvironmentRow): Deed[] {
  const environment = { id: after.id, name: after.name };
  const changes: [Deed["action"], AuditDetail, AuditDetail][] = [
    ["environment.transcription_changed", { from: before.ai_transcription }, { to: after.ai_transcription }],
    ["environment.origins_changed", { from: before.allowed_origins }, { to: after.allowed_origins }],
    ["environment.retention_changed", { from: retentionOf(before) }, { to: retentionOf(after) }],
  ];
  return changes.flatMap(([action, from, to]) =>
    JSON.stringify(from.from) === JSON.stringify(to.to)
      ? []
      : [{ action, environment, detail: { ...from, ...to } }],
  );
}

/** `recording after 30 days`; null where all is kept. */
function retentionOf({ retention_days: days, retention_deletes: deletes }: EnvironmentRow): string | null {
  return days === null ? null : `${deletes} after ${days} days`;
}
