import {
  type AuditActor,
  type AuditEvent,
  recordAuditEvent,
} from "../../../server/src/audit/audit-events.ts";
import type { Service } from "../../../server/src/main.ts";

/** Inserts the audit events of a team's day. */
export async function seedAudit(
  { parts }: Service,
  environment: { id: string; name: string },
): Promise<void> {
  const { database, clock } = parts;
  const olive: AuditActor = {
    kind: "operator",
    id: "operator_01olive",
    name: "olive@subtext.example",
    address: "203.0.113.24",
  };
  const marek: AuditActor = {
    ...olive,
    id: "operator_01marek",
    name: "marek@subtext.example",
    address: "2001:db8::17",
  };
  const none = { id: null, name: null, address: null };
  const key: AuditActor = {
    kind: "api_key",
    id: "key_01uploader",
    name: "Website backend",
    address: "198.51.100.8",
  };
  const hook = { id: "endpoint_01hook", name: "hooks.nordwind.example" };
  const events: [AuditActor, AuditEvent][] = [
    [olive, { action: "service.set_up" }],
    [olive, { action: "environment.created", environment, detail: { aiTranscription: true } }],
    [
      olive,
      {
        action: "operator.invited",
        subject: { id: "invitation_01", name: marek.name },
        detail: { role: "owner" },
      },
    ],
    [marek, { action: "operator.joined", detail: { role: "owner" } }],
    [
      marek,
      {
        action: "api_key.created",
        environment,
        subject: { id: "key_01uploader", name: "Website backend" },
        detail: { permissions: ["create_video", "get_video"], expiresAt: null },
      },
    ],
    [key, { action: "webhook_endpoint.created", environment, subject: hook }],
    [
      { ...none, kind: "stranger", address: "192.0.2.77" },
      { action: "operator.sign_in_failed", subject: { id: "operator_01olive", name: olive.name } },
    ],
    [
      { ...none, kind: "command_line" },
      {
        action: "environment.retention_changed",
        environment,
        detail: { from: null, to: { days: 90, deletes: "recording" } },
      },
    ],
    [
      olive,
      {
        action: "environment.origins_changed",
        environment,
        detail: { from: ["*"], to: ["https://app.nordwind.example", "https://studio.nordwind.example"] },
      },
    ],
    [
      { ...none, kind: "service" },
      {
        action: "webhook_endpoint.disabled",
        environment,
        subject: hook,
        detail: { reason: "It responded with 410 Gone." },
      },
    ],
    [marek, { action: "environment.transcription_changed", environment, detail: { from: true, to: false } }],
  ];
  for (const [actor, event] of events) await recordAuditEvent({ tx: database.kysely, clock }, actor, event);
}
