import type { AuditActorView, AuditEntryView } from "@subtext/server/admin/contract/audit";
import type { ActorKind, AuditAction, AuditDetail } from "@subtext/server/db/enums";

export const ACTION_NAMES: Record<AuditAction, string> = {
  "service.set_up": "Service set up",
  "environment.created": "Environment created",
  "environment.transcription_changed": "AI Transcription switched",
  "environment.origins_changed": "Upload origins changed",
  "environment.retention_changed": "Retention changed",
  "api_key.created": "API key made",
  "api_key.revoked": "API key revoked",
  "webhook_endpoint.created": "Webhook endpoint added",
  "webhook_endpoint.changed": "Webhook endpoint changed",
  "webhook_endpoint.secret_revealed": "Signing secret shown",
  "webhook_endpoint.secret_rotated": "Signing secret rotated",
  "webhook_endpoint.disabled": "Webhook endpoint disabled by itself",
  "webhook_endpoint.deleted": "Webhook endpoint deleted",
  "operator.invited": "Operator invited",
  "operator.invitation_revoked": "Invitation taken back",
  "operator.joined": "Operator joined",
  "operator.removed": "Operator removed",
  "operator.password_changed": "Password changed",
  "operator.password_reset": "Password reset",
  "operator.signed_in": "Signed in",
  "operator.sign_in_failed": "Sign-in failed",
  "video.deleted": "Video deleted",
  "transcription.reprocessed": "Video transcribed again",
};

export const ACTOR_KIND_NAMES: Record<Exclude<ActorKind, "operator">, string> = {
  command_line: "Command line",
  api_key: "API key",
  service: "Subtext itself",
  stranger: "Somebody not signed in",
};

export function nameOf({ kind, name, id }: AuditActorView): string {
  if (kind === "operator") return name ?? id ?? "Operator";
  if (kind === "api_key") return `API key ${name ?? id ?? ""}`.trim();
  return ACTOR_KIND_NAMES[kind];
}

/** What was done, in a few words. */
export function titleOf({ action, detail }: AuditEntryView): string {
  if (action === "environment.transcription_changed") {
    return `AI Transcription switched ${detail.to === true ? "on" : "off"}`;
  }
  if (action === "webhook_endpoint.changed" && typeof detail.enabled === "boolean") {
    return `Webhook endpoint ${detail.enabled ? "enabled" : "disabled"}`;
  }
  return ACTION_NAMES[action];
}

/** What it was done to, and what else is known of it; each part by itself. */
export function factsOf({ action, environment, subject, detail }: AuditEntryView): string[] {
  const things = [subject && (subject.name ?? subject.id), environment?.name].filter(
    (part) => typeof part === "string",
  );
  return [...things, ...describe(action, detail)];
}

function describe(action: AuditAction, detail: AuditDetail): string[] {
  switch (action) {
    case "environment.created":
      return [detail.aiTranscription === true ? "AI Transcription on" : "AI Transcription off"];
    case "environment.origins_changed":
      return [`from ${inWords(detail.from, "none")} to ${inWords(detail.to, "none")}`];
    case "environment.retention_changed":
      return [`from ${inWords(detail.from, "forever")} to ${inWords(detail.to, "forever")}`];
    case "api_key.created":
      return [
        `may ${inWords(detail.permissions, "nothing")}`,
        detail.expiresAt ? `ends ${String(detail.expiresAt).slice(0, 10)}` : "never ends",
      ];
    case "webhook_endpoint.changed":
      return [`changed ${inWords(detail.changed, "nothing").replaceAll("eventTypes", "events")}`];
    case "webhook_endpoint.disabled":
      return [inWords(detail.reason, "")];
    case "operator.invited":
    case "operator.joined":
    case "operator.removed":
      return [`as ${inWords(detail.role, "operator")}`];
    default:
      return [];
  }
}

function inWords(value: AuditDetail[string] | undefined, none: string): string {
  if (value === undefined || value === null) return none;
  if (Array.isArray(value)) return value.length === 0 ? none : value.join(", ");
  return String(value);
}
