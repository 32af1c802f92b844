import type { ActorKind, AuditAction, AuditDetail } from "../../db/enums.ts";

export interface AuditActorView {
  kind: ActorKind;
  /** Id of an operator or an API key. */
  id: string | null;
  /** An operator's email or an API key's name at the time of the event. */
  name: string | null;
}

/** An affected resource, which may no longer exist. */
export interface AuditResourceView {
  id: string;
  /** The name at the time of the event; null if the resource has none or the name must not be shown. */
  name: string | null;
}

export interface AuditEventView {
  id: string;
  at: string;
  action: AuditAction;
  actor: AuditActorView;
  /** The IP address of the request; null for the service itself and the command line. */
  address: string | null;
  environment: AuditResourceView | null;
  subject: AuditResourceView | null;
  detail: AuditDetail;
}

/** Newest first. */
export interface AuditPageView {
  data: AuditEventView[];
  nextCursor: string | null;
}
