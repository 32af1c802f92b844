import type { ActorKind, AuditAction, AuditDetail } from "../../db/enums.ts";

export interface AuditActorView {
  kind: ActorKind;
  /** Of an operator or an API key. */
  id: string | null;
  /** An operator's email or an API key's name, as it was then. */
  name: string | null;
}

/** Something that may be gone since. */
export interface AuditThingView {
  id: string;
  /** As it was then; null where it has none that may be told. */
  name: string | null;
}

/** One line of the audit log. */
export interface AuditEntryView {
  id: string;
  at: string;
  action: AuditAction;
  actor: AuditActorView;
  /** The IP address that it was asked from; null for the service itself and the command line. */
  address: string | null;
  environment: AuditThingView | null;
  subject: AuditThingView | null;
  detail: AuditDetail;
}

/** Newest first. */
export interface AuditPageView {
  data: AuditEntryView[];
  nextCursor: string | null;
}
