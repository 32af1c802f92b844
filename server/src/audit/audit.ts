import type { ActorKind, AuditAction, AuditDetail } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { insertAuditEntry } from "./queries.ts";

/** Who did it, and from where. */
export interface Author {
  kind: ActorKind;
  id: string | null;
  name: string | null;
  /** IP address; null where there is none to tell. */
  address: string | null;
}

/** Subtext by itself. */
export const SERVICE: Author = { kind: "service", id: null, name: null, address: null };

export interface Deed {
  action: AuditAction;
  environment?: { id: string; name: string };
  /** `name` is null if it is not for the log. */
  subject?: { id: string; name: string | null };
  /** Never a secret, never words of a transcript. */
  detail?: AuditDetail;
}

/** In the transaction that does it: what is not written down has not happened. */
export async function writeDown(
  { tx, clock }: { tx: Db | Tx; clock: Clock },
  author: Author,
  { action, environment, subject, detail = {} }: Deed,
): Promise<void> {
  await insertAuditEntry(tx, {
    id: newId("audit"),
    at: clock.now(),
    action,
    actor_kind: author.kind,
    actor_id: author.id,
    actor_name: author.name,
    address: author.address,
    environment_id: environment?.id ?? null,
    environment_name: environment?.name ?? null,
    subject_id: subject?.id ?? null,
    subject_name: subject?.name ?? null,
    detail: JSON.stringify(detail),
  });
}
