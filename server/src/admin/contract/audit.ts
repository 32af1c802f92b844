/** What is written down, each as `<what>.<became of it>`. */
export const AUDIT_ACTIONS = [
  "service.set_up",
  "environment.created",
  "environment.transcription_changed",
  "environment.origins_changed",
  "environment.retention_changed",
  "api_key.created",
  "api_key.revoked",
  "webhook_endpoint.created",
  "webhook_endpoint.changed",
  "webhook_endpoint.secret_revealed",
  "webhook_endpoint.secret_rotated",
  "webhook_endpoint.disabled",
  "webhook_endpoint.deleted",
  "operator.invited",
  "operator.invitation_revoked",
  "operator.joined",
  "operator.removed",
  "operator.password_changed",
  "operator.password_reset",
  "operator.signed_in",
  "operator.sign_in_failed",
  "video.deleted",
  "transcription.reprocessed",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** `service`: Subtext by itself. `stranger`: somebody who was not signed in. */
export const ACTOR_KINDS = ["operator", "command_line", "api_key", "service", "stranger"] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

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

/** What a change was from and to, and the like; never a secret. */
export type AuditDetail = Record<string, string | number | boolean | null | string[]>;

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
