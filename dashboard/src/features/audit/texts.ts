import type { AuditActorView, AuditEventView } from "@subtext/server/admin/contract/audit";
import {
  type AuditAction,
  type AuditDetail,
  BULK_OPERATION_KINDS,
  type RetentionPolicy,
} from "@subtext/server/db/enums";
import { audit as texts } from "../../messages/en/audit.ts";
import { formatDate } from "../../ui/format.ts";
import { permissionName } from "../api-keys/permissions.ts";

export function actorName({ kind, name, id }: AuditActorView): string {
  if (kind === "operator") return name ?? id ?? texts.operator;
  if (kind === "api_key") return texts.apiKey(name ?? id ?? "");
  return texts.actorKinds[kind] ?? kind;
}

/** Returns the code itself for an action that only a newer release of the service has. */
export function entryTitle({ action, detail }: AuditEventView): string {
  if (action === "environment.transcription_changed") {
    return texts.transcriptionTurned(detail.to === true);
  }
  if (action === "webhook_endpoint.changed" && typeof detail.enabled === "boolean") {
    return texts.endpointEnabled(detail.enabled);
  }
  return texts.actions[action] ?? action;
}

export function entryDetails({ action, environment, subject, detail }: AuditEventView): string[] {
  const names = [subject && (subject.name ?? subject.id), environment?.name].filter(
    (name) => typeof name === "string",
  );
  return [...names, ...describe(action, detail)].filter((text) => text !== "");
}

function describe(action: AuditAction, detail: AuditDetail): string[] {
  switch (action) {
    case "environment.created":
      return [texts.transcriptionIs(detail.aiTranscription === true)];
    case "environment.origins_changed":
    case "environment.vocabulary_changed":
      return [texts.fromTo(listText(detail.from, texts.none), listText(detail.to, texts.none))];
    case "environment.weight_changed":
      return [texts.fromTo(String(detail.from), String(detail.to))];
    case "environment.retention_changed":
      return [texts.fromTo(retentionText(detail.from), retentionText(detail.to))];
    case "api_key.created":
      return [
        permissionNames(detail.permissions),
        detail.expiresAt ? texts.expires(formatDate(String(detail.expiresAt))) : texts.neverExpires,
      ];
    case "webhook_endpoint.changed":
      return [texts.changed(listText(detail.changed, texts.nothing, fieldName))];
    case "webhook_endpoint.disabled":
      return [listText(detail.reason, "")];
    case "operator.role_changed":
      return [texts.fromTo(roleText(detail.from, texts.noRole), roleText(detail.to, texts.noRole))];
    case "operator.invited":
    case "operator.joined":
    case "operator.removed":
      return [roleText(detail.role, texts.operatorRole)];
    case "bulk_operation.requested":
      // Absent from the event of a large operation, whose videos are counted while they are selected.
      return [
        bulkKind(detail.kind),
        ...(detail.matched === undefined ? [] : [texts.videos(Number(detail.matched))]),
      ];
    case "bulk_operation.canceled":
    case "bulk_operation.finished":
      return [
        bulkKind(detail.kind),
        texts.processed(Number(detail.done), Number(detail.matched)),
        ...(Number(detail.failed) > 0 ? [texts.failedVideos(Number(detail.failed))] : []),
        ...(Number(detail.skipped) > 0 ? [texts.skippedVideos(Number(detail.skipped))] : []),
      ];
    default:
      return [];
  }
}

function bulkKind(kind: Value): string {
  const known = BULK_OPERATION_KINDS.find((each) => each === kind);
  return known ? texts.bulkKinds[known] : "";
}

function permissionNames(permissions: AuditDetail[string] | undefined): string {
  const codes = Array.isArray(permissions) ? permissions : [];
  return codes.map(permissionName).join(", ");
}

type Value = AuditDetail[string] | undefined;

function listText(value: Value, emptyText: string, translate = (text: string) => text): string {
  if (value === undefined || value === null) return emptyText;
  if (Array.isArray(value)) return value.length === 0 ? emptyText : value.map(translate).join(", ");
  return translate(String(value));
}

function roleText(value: Value, emptyText: string): string {
  return listText(value, emptyText, texts.recordedRole);
}

/** Older events contain an English text instead of the policy. */
function retentionText(value: Value): string {
  return isPolicy(value) ? texts.retentionPolicy(value) : listText(value, texts.forever);
}

function isPolicy(value: Value): value is RetentionPolicy {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldName(field: string): string {
  return Object.hasOwn(texts.fields, field) ? texts.fields[field as keyof typeof texts.fields] : field;
}
