/** Values of columns and filters. This file must not import anything, because the dashboard imports it. */

export const AUDIT_ACTIONS = [
  "service.set_up",
  "environment.created",
  "environment.transcription_changed",
  "environment.origins_changed",
  "environment.retention_changed",
  "environment.weight_changed",
  "environment.vocabulary_changed",
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
  "operator.role_changed",
  "operator.removed",
  "operator.password_changed",
  "operator.password_reset",
  "operator.signed_in",
  "operator.sign_in_failed",
  "video.deleted",
  "video.copied",
  "transcription.reprocessed",
  "transcription.canceled",
  "transcript.edited",
  "transcript.restored",
  "bulk_operation.requested",
  "bulk_operation.canceled",
  "bulk_operation.finished",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** `service`: Subtext itself. `stranger`: a client that is not signed in. */
export const ACTOR_KINDS = ["operator", "command_line", "api_key", "service", "stranger"] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** Old and new values; never a secret. */
export type AuditDetail = Record<string, string | number | boolean | null | string[] | RetentionPolicy>;

/** `valid`: authorizes requests. `ended`: revoked or expired. */
export const API_KEY_STATES = ["valid", "ended"] as const;
export type ApiKeyState = (typeof API_KEY_STATES)[number];

/**
 * An owner may do anything. An editor may manage videos, but nothing else. A viewer may read everything except secrets
 * and the audit log.
 */
export const OPERATOR_ROLES = ["owner", "editor", "viewer"] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

export interface EnvironmentRole {
  id: string;
  name: string;
  role: OperatorRole;
}

/** Either one role in all environments, including future ones, or a role in each of several environments. */
export interface OperatorAccess {
  /** Null if `environments` has the roles. */
  role: OperatorRole | null;
  /** Empty if `role` is not null. */
  environments: EnvironmentRole[];
}

export const RETENTION_DELETES = ["recording", "video"] as const;
export const MAX_RETENTION_DAYS = 3650;
/** The maximum fair-queueing weight of an environment. The minimum is 1. */
export const MAX_WEIGHT = 100;

export interface RetentionPolicy {
  /** Days since the transcription ended, or since the upload of a video without one. From 1 to `MAX_RETENTION_DAYS`. */
  days: number;
  /** `recording` keeps the transcript; `video` deletes everything. */
  deletes: (typeof RETENTION_DELETES)[number];
}

/** Filters of the video list. `untranscribed`: AI Transcription was off when the upload finished. */
export const VIDEO_STATES = [
  "uploading",
  "pending",
  "processing",
  "completed",
  "failed",
  "skipped",
  "untranscribed",
] as const;
export type VideoState = (typeof VIDEO_STATES)[number];

/** Orders of the video list. */
export const VIDEO_SORTS = ["uploaded", "name", "duration", "words"] as const;
export type VideoSort = (typeof VIDEO_SORTS)[number];
export const SORT_DIRECTIONS = ["asc", "desc"] as const;
export type SortDirection = (typeof SORT_DIRECTIONS)[number];

/** Actions on many videos. */
export const BULK_OPERATION_KINDS = ["retry", "delete", "download"] as const;
export type BulkOperationKind = (typeof BULK_OPERATION_KINDS)[number];

/** `failed`: stopped because of an error. Videos that could not be processed are only counted. */
export const BULK_OPERATION_STATES = ["queued", "running", "completed", "canceled", "failed"] as const;
export type BulkOperationState = (typeof BULK_OPERATION_STATES)[number];

/**
 * `returned`: failed and will be retried; `handed_back`: the service stopped; `yielded`: paused so that other jobs can
 * run; `lost`: the worker crashed.
 */
export const ATTEMPT_OUTCOMES = [
  "completed",
  "skipped",
  "failed",
  "returned",
  "handed_back",
  "yielded",
  "lost",
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];
