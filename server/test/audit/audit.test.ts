import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { NewApiKeyView } from "../../src/admin/contract/api-key.ts";
import type { AuditEventView, AuditPageView } from "../../src/admin/contract/audit.ts";
import type { EnvironmentView } from "../../src/admin/contract/environment.ts";
import type { NewInvitationView } from "../../src/admin/contract/operator.ts";
import { SignInAudit } from "../../src/admin/sign-in/audit.ts";
import { recordAuditEvent } from "../../src/audit/audit-events.ts";
import { deleteAuditEvents, listAuditOperators } from "../../src/audit/queries.ts";
import { sweep } from "../../src/cleanup/sweep.ts";
import { AUDIT_ACTIONS } from "../../src/db/enums.ts";
import { newId } from "../../src/lib/ids.ts";
import { newJobId } from "../../src/queue/queue.ts";
import { insertVideo } from "../../src/videos/queries.ts";
import {
  addViewer,
  codeOf,
  cookieOf,
  type OperatorRequest,
  send,
  sendAsCommandLine,
  setUp,
  signIn,
} from "../admin/operator-requests.ts";
import { MovableClock, shareService } from "../support/service.ts";

const clock = new MovableClock();
const subtext = shareService({ start: false, clock });
const FROM = "203.0.113.7";
const secrets: string[] = [];
let owner: Record<string, string>;
let environment: EnvironmentView;

const asOwner = (path: string, request: OperatorRequest = {}) =>
  send(subtext, path, { from: FROM, ...request, headers: owner });

async function entries(query = ""): Promise<AuditEventView[]> {
  return (await sendAsCommandLine(subtext, `/audit?limit=100${query}`)).json<AuditPageView>().data;
}

/** Returns the audit entries that a function causes, oldest first. */
async function auditedBy(run: () => Promise<unknown>): Promise<AuditEventView[]> {
  const before = (await entries())[0]?.id ?? "";
  await run();
  return (await entries()).filter(({ id }) => id > before).reverse();
}

async function countRows(): Promise<number> {
  const rows = await subtext.service.parts.database.kysely.selectFrom("audit_event").select("id").execute();
  return rows.length;
}

beforeEach(() => {
  clock.advance(3_600_000);
});

beforeAll(async () => {
  const credentials = await setUp(subtext);
  secrets.push(credentials.password);
  owner = { cookie: cookieOf(await signIn(subtext, credentials, { from: FROM })), origin: subtext.url };
  const body = { name: "Audited", aiTranscription: false };
  environment = (await asOwner("/environments", { method: "POST", body })).json();
});

const OLIVE = { kind: "operator", id: expect.stringMatching(/^operator_/), name: "owner@subtext.example" };

test("docs/audit.md lists every action", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/audit.md"), "utf8");
  const documented = [...page.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(.+?)`/g)].map(([, name]) => name),
  );
  expect(documented.sort()).toEqual([...AUDIT_ACTIONS].sort());
});

describe("audit entries of an operator's changes have actor, time, address and subject", () => {
  test("cover environments", async () => {
    const body = {
      aiTranscription: true,
      allowedOrigins: ["https://app.example"],
      retention: { days: 30, deletes: "recording" },
    };
    const path = `/environments/${environment.id}`;
    const written = await auditedBy(() => asOwner(path, { method: "PATCH", body }));
    const common = {
      id: expect.stringMatching(/^audit_/),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: OLIVE,
      address: FROM,
      environment: { id: environment.id, name: "Audited" },
      subject: null,
    };
    expect(written).toEqual([
      { ...common, action: "environment.transcription_changed", detail: { from: false, to: true } },
      {
        ...common,
        action: "environment.origins_changed",
        detail: { from: ["*"], to: ["https://app.example"] },
      },
      {
        ...common,
        action: "environment.retention_changed",
        detail: { from: null, to: { days: 30, deletes: "recording" } },
      },
    ]);
    expect(await auditedBy(() => asOwner(path, { method: "PATCH", body }))).toEqual([]);
  });

  test("are written only if the change is committed, not if it is rejected halfway", async () => {
    const body = { aiTranscription: false, allowedOrigins: ["no origin"] };
    const written = await auditedBy(() =>
      asOwner(`/environments/${environment.id}`, { method: "PATCH", body }),
    );
    expect(written).toEqual([]);
    const { data } = (await asOwner("/environments")).json<{ data: EnvironmentView[] }>();
    expect(data.find(({ id }) => id === environment.id)).toMatchObject({ aiTranscription: true });
  });

  test("are required: a change is rolled back if its entry cannot be written", async () => {
    const db = subtext.service.parts.database.kysely;
    await db.schema.alterTable("audit_event").renameTo("audit_event_away").execute();
    try {
      const body = { aiTranscription: false };
      const path = `/environments/${environment.id}`;
      expect((await asOwner(path, { method: "PATCH", body })).statusCode).toBe(500);
      expect((await asOwner(`${path}/api-keys`, { method: "POST", body: {} })).statusCode).toBe(500);
    } finally {
      await db.schema.alterTable("audit_event_away").renameTo("audit_event").execute();
    }
    const { data } = (await asOwner("/environments")).json<{ data: EnvironmentView[] }>();
    expect(data.find(({ id }) => id === environment.id)).toMatchObject({ aiTranscription: true });
    const keys = (await asOwner(`/environments/${environment.id}/api-keys`)).json<{ data: object[] }>();
    expect(keys.data).toEqual([]);
  });

  test("cover keys, by name", async () => {
    const written = await auditedBy(async () => {
      const body = { name: "Uploader", permissions: ["get_video"] };
      const made = await asOwner(`/environments/${environment.id}/api-keys`, { method: "POST", body });
      const { id, key } = made.json<NewApiKeyView>();
      secrets.push(key);
      for (const _twice of [1, 2]) await asOwner(`/api-keys/${id}`, { method: "DELETE" });
    });
    const subject = { id: expect.stringMatching(/^key_/), name: "Uploader" };
    expect(written).toMatchObject([
      {
        action: "api_key.created",
        subject,
        actor: OLIVE,
        detail: { permissions: ["get_video"], expiresAt: null },
      },
      { action: "api_key.revoked", subject, actor: OLIVE, detail: {} },
    ]);
  });

  test("cover webhook endpoints, by host", async () => {
    const url = "https://hooks.example/services/T000/path-that-is-a-secret?token=secret-too";
    secrets.push("path-that-is-a-secret", "secret-too");
    const written = await auditedBy(async () => {
      const path = `/environments/${environment.id}/webhook-endpoints`;
      const { id, secret } = (await asOwner(path, { method: "POST", body: { url } })).json();
      const body = { enabled: false, url: `${url}&new` };
      await asOwner(`/webhook-endpoints/${id}`, { method: "PATCH", body });
      await asOwner(`/webhook-endpoints/${id}/reveal-secret`, { method: "POST" });
      const rotated = await asOwner(`/webhook-endpoints/${id}/rotate-secret`, { method: "POST" });
      secrets.push(secret, rotated.json().secret);
      await asOwner(`/webhook-endpoints/${id}`, { method: "DELETE" });
    });
    const subject = { id: expect.stringMatching(/^endpoint_/), name: "hooks.example" };
    expect(written).toMatchObject([
      { action: "webhook_endpoint.created", subject, environment: { name: "Audited" } },
      {
        action: "webhook_endpoint.changed",
        subject,
        detail: { changed: ["enabled", "url"], enabled: false },
      },
      { action: "webhook_endpoint.secret_revealed", subject },
      { action: "webhook_endpoint.secret_rotated", subject },
      { action: "webhook_endpoint.deleted", subject },
    ]);
  });

  test("cover operators and their sign-ins, from the invitation to the removal", async () => {
    const password = "a password of Nina's";
    const next = "the next password of Nina's";
    secrets.push(password, next);
    const email = "nina@subtext.example";
    const origin = { origin: subtext.url };
    const written = await auditedBy(async () => {
      const invite = () => asOwner("/invitations", { method: "POST", body: { email, role: "owner" } });
      const first = (await invite()).json<NewInvitationView>();
      await asOwner(`/invitations/${first.id}`, { method: "DELETE" });
      const token = new URL((await invite()).json<NewInvitationView>().url).hash.slice(1);
      secrets.push(token);
      const joined = await send(subtext, "/join", {
        method: "POST",
        body: { token, name: "Nina", password },
        headers: origin,
        from: "198.51.100.2",
      });
      expect(joined.statusCode).toBe(201);
      await signIn(subtext, { email, password: "wrong" }, { from: "198.51.100.2" });
      await signIn(subtext, { email: "mistaken-secret@a.example", password }, { from: "198.51.100.2" });
      const signedIn = await signIn(subtext, { email, password }, { from: "198.51.100.2" });
      clock.advance(60_000);
      const changed = await send(subtext, "/auth/change-password", {
        method: "POST",
        body: { currentPassword: password, newPassword: next, revokeOtherSessions: true },
        headers: { ...origin, cookie: cookieOf(signedIn) },
        from: "198.51.100.2",
      });
      expect(changed.statusCode).toBe(200);
      const { id } = (await asOwner("/operators"))
        .json()
        .data.find((each: { email: string }) => each.email === email);
      await asOwner(`/operators/${id}`, { method: "DELETE" });
    });
    const nina = { kind: "operator", name: email };
    const stranger = { kind: "stranger", id: null, name: null };
    expect(written).toMatchObject([
      { action: "operator.invited", actor: OLIVE, subject: { name: email }, detail: { role: "owner" } },
      { action: "operator.invitation_revoked", actor: OLIVE, subject: { name: email } },
      { action: "operator.invited", actor: OLIVE },
      { action: "operator.joined", actor: nina, address: "198.51.100.2", detail: { role: "owner" } },
      {
        action: "operator.sign_in_failed",
        actor: stranger,
        subject: { name: email },
        address: "198.51.100.2",
      },
      { action: "operator.sign_in_failed", actor: stranger, subject: null },
      { action: "operator.signed_in", actor: nina, address: "198.51.100.2" },
      { action: "operator.password_changed", actor: nina },
      { action: "operator.removed", actor: OLIVE, subject: { name: email } },
    ]);
    const operators = await listAuditOperators(subtext.service.parts.database.kysely);
    expect(operators.map(({ name }) => name).sort()).toEqual([email, "owner@subtext.example"]);
  });
});

test("videos that operators delete, retry or cancel are audited by id only", async () => {
  const db = subtext.service.parts.database.kysely;
  const id = newId("video");
  const now = clock.now();
  const metadata = { filename: "a-name-that-is-private.mp4" };
  secrets.push("a-name-that-is-private");
  await insertVideo(db, { id, environmentId: environment.id, metadata, sizeBytes: 1, now });
  await db
    .updateTable("video")
    .set({ uploaded_at: now, ai_transcription: true })
    .where("id", "=", id)
    .execute();
  const transcription = {
    id: newId("transcription"),
    video_id: id,
    environment_id: environment.id,
    status: "FAILED",
    job_id: newJobId(),
    stages: "null",
    created_at: now,
    queued_at: now,
  } as const;
  await db.insertInto("transcription").values(transcription).execute();
  const path = `/environments/${environment.id}/videos/${id}`;
  const written = await auditedBy(async () => {
    expect((await asOwner(`${path}/reprocess`, { method: "POST" })).statusCode).toBe(202);
    expect((await asOwner(`/transcriptions/${id}/reprocess`, { method: "POST" })).statusCode).toBe(409);
    expect((await asOwner(`${path}/cancel`, { method: "POST" })).statusCode).toBe(200);
    expect((await asOwner(`${path}/cancel`, { method: "POST" })).statusCode).toBe(409);
    expect((await asOwner(`/transcriptions/${id}/reprocess`, { method: "POST" })).statusCode).toBe(202);
    expect((await asOwner(`/transcriptions/${id}/cancel`, { method: "POST" })).statusCode).toBe(200);
    expect((await asOwner(path, { method: "DELETE" })).statusCode).toBe(204);
  });
  const entry = { actor: OLIVE, environment: { name: "Audited" }, subject: { id, name: null } };
  expect(written).toMatchObject([
    { action: "transcription.reprocessed", ...entry },
    { action: "transcription.canceled", ...entry },
    { action: "transcription.reprocessed", ...entry },
    { action: "transcription.canceled", ...entry },
    { action: "video.deleted", ...entry },
  ]);
});

test("the command line is an actor without an address", async () => {
  const body = { name: "By command", aiTranscription: true };
  const written = await auditedBy(() =>
    sendAsCommandLine(subtext, "/environments", { method: "POST", body }),
  );
  expect(written).toMatchObject([
    {
      action: "environment.created",
      actor: { kind: "command_line", id: null, name: null },
      address: null,
      detail: { aiTranscription: true },
    },
  ]);
});

test("changes to webhook endpoints with an API key are audited under the key's name", async () => {
  const body = { name: "Integrator", permissions: ["manage_webhooks"] };
  const made = await asOwner(`/environments/${environment.id}/api-keys`, { method: "POST", body });
  const { key } = made.json<NewApiKeyView>();
  const request = async (method: "POST" | "PATCH" | "DELETE", path: string, payload?: object) =>
    await subtext.service.parts.app.inject({
      method,
      url: `/api/v1/webhook-endpoints${path}`,
      headers: { authorization: `Bearer ${key}` },
      remoteAddress: FROM,
      ...(payload && { payload }),
    });
  const written = await auditedBy(async () => {
    const { id } = (await request("POST", "", { url: "https://hooks.example/a" })).json();
    expect((await request("PATCH", `/${id}`, {})).statusCode).toBe(200);
    await request("PATCH", `/${id}`, { eventTypes: ["transcriptions.transcription.failed"] });
    await request("POST", `/${id}/rotate-secret`);
    await request("DELETE", `/${id}`);
  });
  const actor = { kind: "api_key", id: expect.stringMatching(/^key_/), name: "Integrator" };
  expect(written).toMatchObject([
    { action: "webhook_endpoint.created", actor, address: FROM },
    {
      action: "webhook_endpoint.changed",
      actor,
      detail: { eventTypes: ["transcriptions.transcription.failed"] },
    },
    { action: "webhook_endpoint.secret_rotated", actor },
    { action: "webhook_endpoint.deleted", actor },
  ]);
});

test("a flood of failed sign-ins does not fill the log", async () => {
  const signIns = new SignInAudit({ db: subtext.service.parts.database.kysely, clock });
  // Each real one takes as long as a password hash.
  const before = await countRows();
  for (let guess = 0; guess < 200; guess++) {
    const request = { ip: `198.18.${guess}.1` };
    await signIns.recordSignIn(request, `g${guess}@a.example`, new Response(null, { status: 401 }));
  }
  expect((await countRows()) - before).toBeLessThan(105);
  clock.advance(60_000);
  const later = await auditedBy(() =>
    signIns.recordSignIn({ ip: FROM }, "", new Response(null, { status: 401 })),
  );
  expect(later.length).toBe(1);
});

describe("the log", () => {
  test("can be read by owners and the command line", async () => {
    const viewer = { cookie: cookieOf(await signIn(subtext, await addViewer(subtext))), origin: subtext.url };
    for (const path of ["/audit", "/audit/operators"]) {
      expect(codeOf(await send(subtext, path, { headers: viewer }))).toEqual([403, "owner_required"]);
      expect(codeOf(await send(subtext, path))).toEqual([401, "sign_in_required"]);
      expect((await asOwner(path)).statusCode).toBe(200);
    }
  });

  test("is read in pages, newest first, and filtered by action and actor", async () => {
    const seen: AuditEventView[] = [];
    let cursor: string | null = null;
    do {
      const page: AuditPageView = (
        await asOwner(`/audit?limit=7${cursor === null ? "" : `&cursor=${cursor}`}`)
      ).json();
      seen.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    expect(seen.map(({ id }) => id)).toEqual(
      seen
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    const created = await entries("&action=environment.created");
    expect(created.length).toBe(seen.filter(({ action }) => action === "environment.created").length);
    const byOlive = await entries(
      `&actorId=${seen.find(({ actor }) => actor.kind === "operator")?.actor.id}`,
    );
    expect(new Set(byOlive.map(({ actor }) => actor.kind))).toEqual(new Set(["operator"]));
    const byCommand = await entries("&actorKind=command_line");
    expect(byCommand.map(({ environment: of }) => of?.name)).toEqual(["By command"]);
    expect(codeOf(await asOwner("/audit?action=nothing"))).toEqual([400, "invalid_request"]);
    for (const cursor of ["%27", Buffer.from("video_1").toString("base64url")]) {
      expect(codeOf(await asOwner(`/audit?cursor=${cursor}`))).toEqual([400, "invalid_request"]);
    }
  });

  test("contains no secret", async () => {
    const rows = await subtext.service.parts.database.kysely.selectFrom("audit_event").selectAll().execute();
    const all = JSON.stringify(rows);
    expect(secrets.length).toBeGreaterThan(6);
    for (const secret of [...secrets, "mistaken-secret"]) expect(all).not.toContain(secret);
  });

  test("is retained for the configured time, and then deleted by the sweep", async () => {
    const { database, queue, log, recordings, transcripts, ownership } = subtext.service.parts;
    const db = database.kysely;
    const now = clock.now();
    const old = { now: () => new Date(now.getTime() - 31 * 86_400_000) };
    const auditActor = { kind: "command_line", id: null, name: null, address: null } as const;
    await recordAuditEvent({ tx: db, clock: old }, auditActor, { action: "service.set_up" });
    const before = await countRows();
    const run = (auditLogDays: number) =>
      sweep(
        {
          db,
          queue,
          clock,
          recordings,
          transcripts,
          ownership,
          log,
          uploadExpiryMs: 86_400_000,
          auditLogDays,
        },
        { full: false, signal: new AbortController().signal },
      );
    await run(32);
    expect(await countRows()).toBe(before);
    await run(30);
    expect(await countRows()).toBe(before - 1);
    expect(await deleteAuditEvents(db, new Date(now.getTime() - 30 * 86_400_000))).toBe(0);
  });
});
