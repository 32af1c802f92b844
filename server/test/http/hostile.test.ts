import { once } from "node:events";
import { readdir } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  createTenant,
  readTranscription,
  shareService,
  until,
  untilEnded,
  upload,
} from "../support/service.ts";

const service = shareService();

/** Sends raw bytes and reads until the server closes the connection. */
async function raw(bytes: string, { thenEnd = false } = {}): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port: service.service.parts.config.port });
  socket.on("error", () => {});
  if (thenEnd) socket.end(bytes);
  else socket.write(bytes);
  return await text(socket);
}

describe("a hostile client", () => {
  test("with 5 MB of metadata in a header gets a problem, and the service keeps running", async () => {
    const metadata = `a ${Buffer.alloc(5_000_000, "x").toString("base64")}`;
    const answer = await raw(
      `POST /api/v1/uploads HTTP/1.1\r\nHost: x\r\nTus-Resumable: 1.0.0\r\nUpload-Metadata: ${metadata}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({
      code: "headers_too_large",
      status: 431,
    });
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });

  test("that does not speak HTTP gets a problem", async () => {
    const answer = await raw("\x16\x03\x01 hello\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"invalid_request"');
  });

  test("with two Host or Authorization headers gets a problem", async () => {
    const { key } = await createTenant(service);
    const [host, authorization] = ["Host: 127.0.0.1\r\n", `Authorization: Bearer ${key}\r\n`];
    const requestWith = (headers: string) =>
      raw(`GET /api/v1/videos HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
    expect(await requestWith(host + authorization)).toMatch(/^HTTP\/1\.1 200 /);
    for (const headers of [
      `${host}${host}${authorization}`,
      `Host: evil.example\r\n${authorization}hOsT: 127.0.0.1\r\n`,
      `${host}${authorization}Authorization: Bearer another\r\n`,
    ]) {
      const answer = await requestWith(headers);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toMatch(/content-type: application\/problem\+json/);
      expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({
        code: "invalid_request",
        status: 400,
      });
    }
  });

  test("with a compressed body gets an error that says what to send, after its key was checked", async () => {
    const { key } = await createTenant(service);
    const json = gzipSync(JSON.stringify({ sizeBytes: 1 }));
    const tus = { "tus-resumable": "1.0.0", "upload-length": String(json.length) };
    const octets = { "content-type": "application/offset+octet-stream" };
    const sent: [path: string, headers: Record<string, string>][] = [
      ["/api/v1/videos", { "content-type": "application/json" }],
      ["/api/v1/uploads", { ...tus, ...octets }],
    ];
    for (const [path, headers] of sent) {
      const post = (more: Record<string, string>, body = json) =>
        fetch(service.url + path, { method: "POST", headers: { ...headers, ...more }, body });
      const authorization = `Bearer ${key}`;
      const answer = await post({ authorization, "content-encoding": "gzip" });
      expect([path, answer.status, answer.headers.get("accept-encoding")]).toEqual([path, 415, "identity"]);
      expect(await answer.json()).toMatchObject({
        code: "unsupported_media_type",
        detail: expect.stringContaining("without compression"),
      });
      expect((await post({ "content-encoding": "gzip" })).status).toBe(401);
    }
    const identity = await fetch(`${service.url}/api/v1/videos`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "content-encoding": "identity",
      },
      body: JSON.stringify({ sizeBytes: 1 }),
    });
    expect(identity.status).toBe(201);
  });

  test("that aborts its body is not logged as a server error", async () => {
    const { key } = await createTenant(service);
    const { app, config } = service.service.parts;
    const head = `POST /api/v1/videos HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    for (const body of ["Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n5\r\n{"]) {
      const arrived = once(app.server, "request") as Promise<[IncomingMessage, ServerResponse]>;
      const socket = connect({ host: "127.0.0.1", port: config.port });
      socket.write(head + body);
      const [request, response] = await arrived;
      // The key has been checked by now, so the service waits only for the body.
      await until(async () => request.readableFlowing === true);
      socket.resetAndDestroy();
      await once(response, "close");
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);

      const answer = await raw(head + body, { thenEnd: true });
      expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({
        code: "invalid_request",
        detail: "The connection closed before the request was complete.",
      });
    }
    expect(service.logged()).not.toContain("request failed");
    expect(service.logged()).not.toContain("internal_error");
  });

  test("with a body nested a hundred thousand levels deep is rejected by every operation", async () => {
    const { key } = await createTenant(service);
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const endpoint = `{"url":"https://example.com/hook","metadata":{"a":${deep}}}`;
    const sent: [path: string, body: string, headers?: Record<string, string>][] = [
      ["/api/v1/webhook-endpoints", endpoint],
      ["/api/v1/webhook-endpoints", endpoint, { "idempotency-key": "deep" }],
      ["/api/v1/videos", `{"sizeBytes":1,"metadata":${deep}}`],
      ["/internal/auth/sign-in/email", `{"email":"a@b.example","password":"x","a":${deep}}`],
      ["/internal/setup", deep],
    ];
    for (const [path, body, headers] of sent) {
      const answer = await fetch(service.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        body,
      });
      expect([path, answer.status]).toEqual([path, 400]);
      expect([path, await answer.json()]).toEqual([
        path,
        expect.objectContaining({ code: "invalid_request" }),
      ]);
    }
  });

  test("with `../` and odd bytes in names gets a plain file name and leaves nothing outside its folder", async () => {
    const tenant = await createTenant(service);
    const videoId = await upload(service, tenant, Buffer.from("not media"), {
      metadata: { filename: "../../../../etc/cron.d/evil\r\nX-Injected: 1", "../key": "../value" },
    });
    await untilEnded(service, tenant, videoId);
    const { recordings, transcripts } = service.service.parts;
    const videoIds = await Array.fromAsync(recordings.list());
    expect(videoIds).toContain(videoId);
    const entries = [
      ...(await readdir(service.dataFolder, { recursive: true })),
      ...videoIds,
      ...(await Array.fromAsync(transcripts.list(""))),
    ];
    expect(entries.filter((name) => name.includes("evil") || name.includes("cron"))).toEqual([]);
  });

  test.each(["../../../database", "..%2F..%2Fdatabase", "video_x/../../files", "%2e%2e", "a".repeat(300)])(
    "asking for the upload %s gets nothing",
    async (id) => {
      const { key } = await createTenant(service);
      const answer = await raw(
        `HEAD /api/v1/uploads/${id} HTTP/1.1\r\nHost: x\r\nTus-Resumable: 1.0.0\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 (404|405|414) /);
    },
  );

  test("cannot read or change another environment's video", async () => {
    const owner = await createTenant(service, { aiTranscription: false });
    const stranger = await createTenant(service);
    const videoId = await upload(service, owner, Buffer.from("secret"));
    expect((await readTranscription(service, stranger, videoId)).body).toMatchObject({
      code: "video_not_found",
    });
    expect((await readTranscription(service, owner, videoId)).body).toMatchObject({
      code: "transcription_not_found",
    });
  });

  test("that makes a query fail causes a log line with the query, but without its values", async () => {
    const { parts } = service.service;
    const row = { event_types: "[]", metadata: "{}", url: "https://example.com/SECRETPATH" };
    const values = { ...row, id: "endpoint_x", environment_id: "env_none", secret: "whsec_SECRETSECRET" };
    const query = parts.database.kysely
      .insertInto("webhook_endpoint")
      .values({ ...values, created_at: new Date() })
      .execute();
    const error: unknown = await query.catch((thrown: unknown) => thrown);
    parts.log.error({ err: error }, "a query that failed");
    const line = service
      .logged()
      .split("\n")
      .find((each) => each.includes("a query that failed"));
    expect(JSON.parse(line ?? "").err).toMatchObject({
      message: expect.stringContaining("foreign key"),
      stack: expect.stringContaining("at "),
      code: "23503",
      table: "webhook_endpoint",
    });
    expect(line).not.toMatch(/SECRET|env_none/);
  });

  test("causes no log line with a key or a signed URL", async () => {
    const tenant = await createTenant(service);
    const videoId = await upload(service, tenant, Buffer.from("x"));
    await readTranscription(service, tenant, videoId);
    await fetch(`${service.url}/files/transcripts/x/1/transcript.vtt?expires=1&signature=SECRETSIGNATURE`);
    const log = service.logged();
    expect(log).toContain("/transcription");
    expect(log).not.toContain(tenant.key.slice(-30));
    expect(log).not.toContain("SECRETSIGNATURE");
    expect(log).not.toContain("authorization");
  });
});
