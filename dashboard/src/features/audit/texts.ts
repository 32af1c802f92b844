import type { AuditActorView, AuditEventView } from "@subtext/server/admin/contract/audit";
import type { ActorKind, AuditAction, AuditDetail } from "@subtext/server/db/enums";
import { permissionName } from "../api-keys/permissions.ts";

export const ACTION_NAMES: Record<AuditAction, string> = {
  "service.set_up": "Service set up",
  "environment.created": "Environment created",
  "environment.transcription_changed": "AI Transcription turned on or off",
  "environment.origins_changed": "Upload origins changed",
  "environment.retention_changed": "Retention changed",
  "environment.weight_changed": "Weight changed",
  "environment.vocabulary_changed": "Vocabulary changed",
  "api_key.created": "API key created",
  "api_key.revoked": "API key revoked",
  "webhook_endpoint.created": "Webhook endpoint created",
  "webhook_endpoint.changed": "Webhook endpoint changed",
  "webhook_endpoint.secret_revealed": "Signing secret shown",
  "webhook_endpoint.secret_rotated": "Signing secret rotated",
  "webhook_endpoint.disabled": "Webhook endpoint disabled automatically",
  "webhook_endpoint.deleted": "Webhook endpoint deleted",
  "operator.invited": "Operator invited",
  "operator.invitation_revoked": "Invitation revoked",
  "operator.joined": "Operator joined",
  "operator.role_changed": "Role changed",
  "operator.removed": "Operator removed",
  "operator.password_changed": "Password changed",
  "operator.password_reset": "Password reset",
  "operator.signed_in": "Signed in",
  "operator.sign_in_failed": "Sign-in failed",
  "video.deleted": "Video deleted",
  "transcription.reprocessed": "Transcription retried",
  "transcript.edited": "Transcript corrected",
  "transcript.restored": "Transcript revision restored",
};

export const ACTOR_KIND_NAMES: Record<Exclude<ActorKind, "operator">, string> = {
  command_line: "Command line",
  api_key: "API key",
  service: "System",
  stranger: "Signed out",
};

export function actorName({ kind, name, id }: AuditActorView): string {
  if (kind === "operator") return name ?? id ?? "Operator";
  if (kind === "api_key") return `API key ${name ?? id ?? ""}`.trim();
  return ACTOR_KIND_NAMES[kind];
}

export function entryTitle({ action, detail }: AuditEventView): string {
  if (action === "environment.transcription_changed") {
    return `AI Transcription turned ${detail.to === true ? "on" : "off"}`;
  }
  if (action === "webhook_endpoint.changed" && typeof detail.enabled === "boolean") {
    return `Webhook endpoint ${detail.enabled ? "enabled" : "disabled"}`;
  }
  return ACTION_NAMES[action];
}

export function entryDetails({ action, environment, subject, detail }: AuditEventView): string[] {
  const names = [subject && (subject.name ?? subject.id), environment?.name].filter(
    (name) => typeof name === "string",
  );
  return [...names, ...describe(action, detail)];
}

function describe(action: AuditAction, detail: AuditDetail): string[] {
  switch (action) {
    case "environment.created":
      return [detail.aiTranscription === true ? "AI Transcription on" : "AI Transcription off"];
    case "environment.origins_changed":
    case "environment.vocabulary_changed":
      return [`from ${listText(detail.from, "none")} to ${listText(detail.to, "none")}`];
    case "environment.weight_changed":
      return [`from ${String(detail.from)} to ${String(detail.to)}`];
    case "environment.retention_changed":
      return [`from ${listText(detail.from, "forever")} to ${listText(detail.to, "forever")}`];
    case "api_key.created":
      return [
        permissionNames(detail.permissions),
        detail.expiresAt ? `expires ${String(detail.expiresAt).slice(0, 10)}` : "never expires",
      ];
    case "webhook_endpoint.changed":
      return [`changed ${listText(detail.changed, "nothing").replaceAll("eventTypes", "events")}`];
    case "webhook_endpoint.disabled":
      return [listText(detail.reason, "")];
    case "operator.role_changed":
      return [`from ${listText(detail.from, "no role")} to ${listText(detail.to, "no role")}`];
    case "operator.invited":
    case "operator.joined":
    case "operator.removed":
      return [listText(detail.role, "operator")];
    default:
      return [];
  }
}

function permissionNames(permissions: AuditDetail[string] | undefined): string {
  const codes = Array.isArray(permissions) ? permissions : [];
  return codes.map(permissionName).join(", ");
}

function listText(value: AuditDetail[string] | undefined, emptyText: string): string {
  if (value === undefined || value === null) return emptyText;
  if (Array.isArray(value)) return value.length === 0 ? emptyText : value.join(", ");
  return String(value);
}
