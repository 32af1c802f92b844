import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { InjectOptions } from "fastify";
import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { Credentials } from "../../src/operators/operators.ts";
import { listRoutes, type Route } from "../support/list-routes.ts";
import { createTenant, shareService, startService, upload } from "../support/service.ts";
import { codeOf, cookieOf, send, setUp, signIn } from "./operator-requests.ts";

const subtext = shareService({ start: false });
const app = () => subtext.service.parts.app;
const READING = ["GET", "HEAD", "OPTIONS"];
/** Requests that need no account. */
const OPEN = /^\/internal\/(?:auth\/(?:sign-in|sign-out|get-session)|setup|join)\b/;

const AUTH_BODY = {
  currentPassword: "a guess of one",
  newPassword: "a password of theirs",
  token: "a guess",
};

let credentials: Credentials;
let routes: Route[];
beforeAll(async () => {
  credentials = await setUp(subtext);
  routes = listRoutes(app());
  expect(routes.length).toBeGreaterThan(60);
});

let asked = 0;
/** A different address each time, because attempts are counted by address. */
const nextAddress = () => {
  asked += 1;
  return `198.51.${asked >> 8}.${asked & 255}`;
};

const filled = (path: string) => path.replace(/:\w+/g, "x").replace("*", "x");

async function ask({ method, path }: Route, options: InjectOptions = {}) {
  return await app().inject({
    method: method as NonNullable<InjectOptions["method"]>,
    url: filled(path),
    remoteAddress: nextAddress(),
    ...options,
  });
}

describe("every route", () => {
  test("responds with headers that keep browsers from executing, framing or leaking it", async () => {
    for (const route of routes) {
      const { headers } = await ask(route);
      const policy = String(headers["content-security-policy"]);
      expect([route, policy]).toEqual([route, expect.stringMatching(/^default-src 'none'/)]);
      expect([route, policy]).toEqual([route, expect.stringMatching(/frame-ancestors 'none'|sandbox/)]);
      expect([route, policy]).toEqual([
        route,
        expect.not.stringMatching(/unsafe-eval|script-src[^;]*(?:\*|unsafe-inline)/),
      ]);
      expect([route, headers["x-content-type-options"]]).toEqual([route, "nosniff"]);
      expect([route, headers["referrer-policy"]]).toEqual([
        route,
        expect.stringMatching(/^(?:no-referrer|same-origin)$/),
      ]);
      expect([route, headers["x-powered-by"], headers.server]).toEqual([route, undefined, undefined]);
    }
  });

  test("has the same headers if no route matches or the request is malformed", async () => {
    const unread = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(subtext.url).port), "127.0.0.1", () =>
        socket.end("no HTTP\r\n\r\n"),
      );
      text(socket).then(resolve, () => resolve(""));
    });
    const undecodable = await fetch(`${subtext.url}/api/v1/videos/%E0%A4%A`);
    const nowhere = await fetch(`${subtext.url}/nowhere`);
    for (const headers of [unread, ...[undecodable, nowhere].map((each) => [...each.headers].join("\n"))]) {
      expect(headers).toMatch(/content-security-policy\W+default-src 'none'/i);
      expect(headers).toMatch(/x-content-type-options\W+nosniff/i);
      expect(headers).toMatch(/cache-control\W+no-store/i);
    }
  });

  test("sends Strict-Transport-Security only if the public address is https", async () => {
    expect(
      (await ask({ method: "GET", path: "/healthz" })).headers["strict-transport-security"],
    ).toBeUndefined();
    const behindTls = await startService({ start: false, env: { PUBLIC_URL: "https://subtext.example" } });
    const { headers } = await behindTls.service.parts.app.inject("/nowhere");
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
  });

  test("of operators requires a session, and no page of another origin can read it", async () => {
    const internal = routes.filter(({ path }) => path.startsWith("/internal/") && !OPEN.test(path));
    expect(internal.length).toBeGreaterThan(40);
    for (const route of internal) {
      const response = await ask(route, {
        headers: { origin: subtext.url },
        // The sign-in library reads the body before it checks the caller.
        ...(route.path.startsWith("/internal/auth/") && route.method === "POST" && { payload: AUTH_BODY }),
      });
      if (route.method !== "HEAD")
        expect([route, ...codeOf(response)]).toEqual([route, 401, "sign_in_required"]);
      expect([route, response.headers["access-control-allow-origin"]]).toEqual([route, undefined]);
    }
  });

  test("of operators has an empty response to HEAD", async () => {
    const cookie = cookieOf(await signIn(subtext, credentials, { from: nextAddress() }));
    const { environmentId } = await createTenant(subtext);
    const headRoutes = routes.filter(
      ({ method, path }) => method === "HEAD" && path.startsWith("/internal/"),
    );
    expect(headRoutes.length).toBeGreaterThan(15);
    for (const { path } of headRoutes) {
      // It loads engines.
      if (path === "/internal/doctor") continue;
      const url = filled(path.replace(":environment", environmentId));
      const answer = app().inject({ method: "HEAD", url, headers: { cookie }, remoteAddress: nextAddress() });
      const { statusCode } = await answer;
      expect([path, statusCode < 500]).toEqual([path, true]);
    }
  });

  test("of operators that changes something rejects requests with the cookie from pages of another origin", async () => {
    const cookie = cookieOf(await signIn(subtext, credentials, { from: nextAddress() }));
    const changing = routes.filter(
      ({ method, path }) => path.startsWith("/internal/") && !READING.includes(method),
    );
    expect(changing.length).toBeGreaterThan(20);
    for (const route of changing) {
      for (const origin of ["https://evil.example", "null", `${subtext.url}.evil.example`, undefined]) {
        const headers = { cookie, ...(origin !== undefined && { origin }) };
        const response = await ask(route, { headers });
        expect([route, origin, ...codeOf(response)]).toEqual([route, origin, 403, "origin_not_allowed"]);
      }
    }
  });

  test("of the API gives the same response for another environment's ids and for unknown ids", async () => {
    const owner = await createTenant(subtext, { aiTranscription: false });
    const stranger = await createTenant(subtext);
    const videoId = await upload(subtext, owner, Buffer.from("x"));
    const created = await app().inject({
      method: "POST",
      url: "/api/v1/webhook-endpoints",
      headers: { authorization: `Bearer ${owner.key}` },
      payload: { url: "http://127.0.0.1:9/" },
    });
    const endpointId = created.json<{ id: string }>().id;
    const tested = await app().inject({
      method: "POST",
      url: `/api/v1/webhook-endpoints/${endpointId}/test`,
      headers: { authorization: `Bearer ${owner.key}` },
    });
    const deliveryId = tested.json<{ id: string }>().id;
    expect([created.statusCode, typeof deliveryId]).toEqual([201, "string"]);
    const theirs: Record<string, string> = { videoId, uploadId: videoId, endpointId, deliveryId };
    const nobodys: Record<string, string> = {
      videoId: newId("video"),
      uploadId: newId("video"),
      endpointId: newId("endpoint"),
      deliveryId: newId("delivery"),
    };
    const withIds = routes.filter(
      ({ method, path }) => path.startsWith("/api/v1/") && path.includes(":") && method !== "OPTIONS",
    );
    expect(withIds.length).toBeGreaterThan(8);
    for (const { method, path } of withIds) {
      const answers = [];
      for (const ids of [theirs, nobodys]) {
        const url = path.replace(
          /:(\w+)/g,
          (_whole, name: string) => ids[name] ?? `unknown parameter ${name}`,
        );
        const response = await app().inject({
          method: method as NonNullable<InjectOptions["method"]>,
          url,
          headers: {
            authorization: `Bearer ${stranger.key}`,
            "tus-resumable": "1.0.0",
            ...(path.startsWith("/api/v1/uploads") && {
              "content-type": "application/offset+octet-stream",
              "upload-offset": "0",
            }),
          },
          ...(method === "PATCH" && { payload: path.startsWith("/api/v1/uploads") ? "x" : {} }),
          ...(method === "PUT" && { payload: { words: [] } }),
          ...(path.endsWith("/redeliver-failed") && { payload: { since: "2026-01-01T00:00:00Z" } }),
        });
        const { requestId: _its, instance: _own, ...body } = method === "HEAD" ? {} : response.json();
        answers.push({ status: response.statusCode, body });
      }
      expect([method, path, answers[0]]).toEqual([method, path, answers[1]]);
      expect([method, path, answers[0]?.status]).toEqual([method, path, 404]);
    }
  });
});

describe("a sign-in", () => {
  test("starts a new session, whatever cookie the request has", async () => {
    const planted = "subtext.session_token=planted.by%20somebody";
    const response = await send(subtext, "/auth/sign-in/email", {
      method: "POST",
      body: credentials,
      headers: { origin: subtext.url, cookie: planted },
      from: nextAddress(),
    });
    expect(response.statusCode).toBe(200);
    expect(cookieOf(response)).not.toContain("planted");
    expect((await send(subtext, "/me", { headers: { cookie: planted } })).statusCode).toBe(401);
    // A second sign-in does not continue the first one's session either.
    const again = await signIn(subtext, credentials, { from: nextAddress() });
    expect(cookieOf(again)).not.toBe(cookieOf(response));
  });
});

describe("a JSON body", () => {
  test.each([
    '{"sizeBytes":1,"metadata":{"__proto__":{"admin":true}}}',
    '{"sizeBytes":1,"metadata":{"constructor":{"prototype":{"admin":true}}}}',
    '{"sizeBytes":1,"__proto__":{"metadata":{"admin":"true"}}}',
  ])("cannot modify the prototype of objects: %s", async (payload) => {
    const { key } = await createTenant(subtext);
    const response = await app().inject({
      method: "POST",
      url: "/api/v1/videos",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      payload,
    });
    expect(codeOf(response)).toEqual([400, "invalid_request"]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

describe("forwarding headers of a client", () => {
  test("determine neither upload URLs and links, nor the request id, nor the client's address", async () => {
    const { key } = await createTenant(subtext);
    const forged = {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      "x-forwarded-for": "203.0.113.9",
      forwarded: "host=evil.example",
      "x-request-id": "chosen-by-the-client",
    };
    const created = await app().inject({
      method: "POST",
      url: "/api/v1/uploads",
      headers: { ...forged, authorization: `Bearer ${key}`, "tus-resumable": "1.0.0", "upload-length": "1" },
    });
    expect(created.statusCode).toBe(201);
    expect(created.headers.location).toMatch(new RegExp(`^(?:${subtext.url})?/api/v1/uploads/video_`));
    const offered = await app().inject({
      method: "POST",
      url: "/api/v1/videos",
      headers: { ...forged, authorization: `Bearer ${key}` },
      payload: { sizeBytes: 1 },
    });
    expect(offered.statusCode).toBe(201);
    expect(JSON.stringify([offered.json(), offered.headers])).not.toMatch(/evil|chosen/);
    expect(subtext.logged()).not.toMatch(/evil\.example|chosen-by-the-client|203\.0\.113\.9/);
  });

  test("result in one line of the log, without injected entries", async () => {
    const before = subtext.logged().length;
    const line = '{"level":60,"msg":"made up"}';
    await app().inject(`/api/v1/videos/${encodeURIComponent(`x\n${line}\r\n`)}/\u001b[2Jtranscription`);
    await send(subtext, "/auth/sign-in/email", {
      method: "POST",
      body: { email: `a\n${line}@x.example`, password: `b\n${line}` },
      headers: { origin: subtext.url, "user-agent": `x\u001b[31m${line}` },
      from: nextAddress(),
    });
    const lines = subtext.logged().slice(before).trim().split("\n");
    expect(lines.length).toBeGreaterThan(1);
    for (const each of lines) {
      expect(JSON.parse(each)).not.toMatchObject({ msg: "made up" });
      expect(each).not.toMatch(/\p{Cc}/u);
    }
  });
});

test("secrets that are shown once are never logged", async () => {
  const { key, environmentId } = await createTenant(subtext);
  const cookie = cookieOf(await signIn(subtext, credentials, { from: nextAddress() }));
  const post = async (path: string, body: object = {}) =>
    (await send(subtext, path, { method: "POST", body, headers: { cookie, origin: subtext.url } })).json();
  const endpoint = await post(`/environments/${environmentId}/webhook-endpoints`, {
    url: "http://127.0.0.1:9/",
  });
  const rotated = await post(`/webhook-endpoints/${endpoint.id}/rotate-secret`);
  const made = await post(`/environments/${environmentId}/api-keys`, {
    name: "k",
    permissions: ["get_video"],
  });
  const invited = await post("/invitations", { email: "secret@subtext.example", role: "viewer" });
  const offered = await app().inject({
    method: "POST",
    url: "/api/v1/videos",
    headers: { authorization: `Bearer ${key}` },
    payload: { sizeBytes: 1 },
  });
  const uploadUrl = new URL(offered.json<{ upload: { url: string } }>().upload.url);
  await app().inject({
    method: "HEAD",
    url: uploadUrl.pathname + uploadUrl.search,
    headers: { "tus-resumable": "1.0.0" },
  });
  const secrets = [
    endpoint.secret,
    rotated.secret,
    made.key,
    new URL(invited.url).hash.slice(1),
    uploadUrl.searchParams.get("signature"),
    /session_token=([^;]+)/.exec(cookie)?.[1],
    credentials.password,
  ];
  for (const secret of secrets) {
    expect(secret).toMatch(/.{12}/);
    expect(subtext.logged()).not.toContain(secret);
  }
});
