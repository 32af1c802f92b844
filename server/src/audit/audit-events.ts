import type { ActorKind, AuditAction, AuditDetail } from "../db/enums.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { EnvironmentRow } from "../db/tables/environments.ts";
import type { WebhookEndpointRow } from "../db/tables/webhooks.ts";
import { findEnvironment, retentionOf } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { insertAuditEvent } from "./queries.ts";

export interface AuditActor {
  kind: ActorKind;
  id: string | null;
  name: string | null;
  /** IP address; null for the service and the command line. */
  address: string | null;
}

export const SERVICE: AuditActor = { kind: "service", id: null, name: null, address: null };

export interface AuditEvent {
  action: AuditAction;
  environment?: { id: string; name: string };
  /** `name` is null if the log must not contain it. */
  subject?: { id: string; name: string | null };
  /** Must not contain secrets or words of a transcript. */
  detail?: AuditDetail;
}

interface AuditDeps {
  tx: Db | Tx;
  clock: Clock;
}

/** Call this in the transaction that makes the change, so that no change is committed without its event. */
export async function recordAuditEvent(
  { tx, clock }: AuditDeps,
  actor: AuditActor,
  { action, environment, subject, detail = {} }: AuditEvent,
): Promise<void> {
  await insertAuditEvent(tx, {
    id: newId("audit"),
    at: clock.now(),
    action,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    address: actor.address,
    environment_id: environment?.id ?? null,
    environment_name: environment?.name ?? null,
    subject_id: subject?.id ?? null,
    subject_name: subject?.name ?? null,
    detail: JSON.stringify(detail),
  });
}

/** Records only the host of the endpoint's URL, because its path and query often contain secrets. */
export async function recordEndpointEvent(
  { tx, clock }: AuditDeps,
  actor: AuditActor,
  action: AuditAction,
  { id, url, environment_id }: Pick<WebhookEndpointRow, "id" | "url" | "environment_id">,
  detail: AuditDetail = {},
): Promise<void> {
  const environment = await findEnvironment(tx, environment_id);
  await recordAuditEvent({ tx, clock }, actor, {
    action,
    subject: { id, name: new URL(url).host },
    detail,
    ...(environment && { environment }),
  });
}

/** Records the names of the changed fields, but only the values of `enabled` and `eventTypes`. */
export async function recordEndpointChange(
  deps: AuditDeps,
  actor: AuditActor,
  row: WebhookEndpointRow,
  change: { enabled?: boolean; eventTypes?: readonly string[] },
): Promise<void> {
  if (Object.keys(change).length === 0) return;
  const { enabled, eventTypes } = change;
  await recordEndpointEvent(deps, actor, "webhook_endpoint.changed", row, {
    changed: Object.keys(change).sort(),
    ...(enabled !== undefined && { enabled }),
    ...(eventTypes !== undefined && { eventTypes: [...eventTypes] }),
  });
}

/** Records only the video's id, because file names may be confidential. */
export async function recordVideoEvent(
  { tx, clock }: AuditDeps,
  actor: AuditActor,
  action: AuditAction,
  { environmentId, videoId }: { environmentId: string; videoId: string },
  detail: AuditDetail = {},
): Promise<void> {
  const environment = await findEnvironment(tx, environmentId);
  await recordAuditEvent({ tx, clock }, actor, {
    action,
    subject: { id: videoId, name: null },
    detail,
    ...(environment && { environment }),
  });
}

interface WeightedEnvironment extends EnvironmentRow {
  weight: number;
}

/** Returns an event for each setting that differs. */
export function environmentChanges(before: WeightedEnvironment, after: WeightedEnvironment): AuditEvent[] {
  const environment = { id: after.id, name: after.name };
  const changes: [AuditAction, AuditDetail[string], AuditDetail[string]][] = [
    ["environment.transcription_changed", before.ai_transcription, after.ai_transcription],
    ["environment.origins_changed", before.allowed_origins, after.allowed_origins],
    ["environment.retention_changed", retentionOf(before), retentionOf(after)],
    ["environment.weight_changed", before.weight, after.weight],
    ["environment.vocabulary_changed", before.vocabulary, after.vocabulary],
  ];
  return changes
    .filter(([, from, to]) => JSON.stringify(from) !== JSON.stringify(to))
    .map(([action, from, to]) => ({ action, environment, detail: { from: from ?? null, to: to ?? null } }));
}
