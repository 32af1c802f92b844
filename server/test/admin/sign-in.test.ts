import { createHmac } from "node:crypto";
import { getMigrations } from "better-auth/db/migration";
import type { LightMyRequestResponse } from "fastify";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SessionView } from "../../src/admin/contract/operator.ts";
import { serviceSecret } from "../../src/db/secrets.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { authOptions, type Credentials, openOperators } from "../../src/operators/operators.ts";
import { MovableClock, shareService, startService } from "../support/service.ts";
import { addViewer, codeOf, cookieOf, send, sendAsCommandLine, setUp, signIn } from "./operator-requests.ts";

const clock = new MovableClock();
const subtext = shareService({ start: false, clock, env: { LOG_LEVEL: "trace" } });
let credentials: Credentials;

beforeAll(async () => {
  credentials = await setUp(subtext);
});

beforeEach(async () => {
  credentials = await subtext.service.parts.operators.resetPassword(null);
  // Resets the throttling of earlier tests.
  clock.advance(3_600_000);
});

/** The token in the cookie, without its signature, and the cookie itself. */
function tokenOf(response: LightMyRequestResponse): { token: string; cookie: string } {
  const cookie = cookieOf(response);
  return { cookie, token: decodeURIComponent(cookie.split("=")[1]!).split(".")[0]! };
}

test("a password is nowhere in the database", async () => {
  const rows = await subtext.service.parts.database.kysely
    .selectFrom("operator")
    .innerJoin("operator_account", "operator_id", "operator.id")
    .selectAll()
    .execute();
  expect(rows).toHaveLength(1);
  expect(rows[0]?.password_hash).toMatch(/^[0-9a-f]+:[0-9a-f]+$/);
  expect(JSON.stringify(rows)).not.toContain(credentials.password);
});

test("a session token is neither in the database nor in a response body, and its hash does not grant access", async () => {
  const db = subtext.service.parts.database.kysely;
  const response = await signIn(subtext, credentials);
  const { token, cookie } = tokenOf(response);
  expect(response.body).not.toContain(token);
  const headers = { cookie, origin: subtext.url };
  const sessions = await send(subtext, "/auth/sessions", { headers });
  expect(sessions.json().data).toHaveLength(1);
  const rows = await db.selectFrom("operator_session").selectAll().execute();
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(token);
  expect(sessions.body).not.toContain(rows[0]!.token);

  // Someone who can read the database can read the secret that signs cookies as well.
  const secret = (await serviceSecret(db, "session")).toString("base64");
  const signed = (value: string) => {
    const signature = createHmac("sha256", secret).update(value).digest("base64");
    return { cookie: `${cookie.split("=")[0]}=${encodeURIComponent(`${value}.${signature}`)}` };
  };
  expect((await send(subtext, "/environments", { headers: signed(token) })).statusCode).toBe(200);
  const forged = await send(subtext, "/environments", { headers: signed(rows[0]!.token) });
  expect(codeOf(forged)).toEqual([401, "sign_in_required"]);
});

test("a session is extended while it is used, and stays the same session", async () => {
  const db = subtext.service.parts.database.kysely;
  const { token, cookie } = tokenOf(await signIn(subtext, credentials));
  const inTwoDays = new Date(Date.now() + 2 * 86_400_000);
  await db.updateTable("operator_session").set({ expires_at: inTwoDays }).execute();
  const used = await send(subtext, "/environments", { headers: { cookie } });
  expect(used.statusCode).toBe(200);
  expect(tokenOf(used).token).toBe(token);
  const [row] = await db.selectFrom("operator_session").selectAll().execute();
  expect(row!.expires_at.getTime()).toBeGreaterThan(inTwoDays.getTime());
  const again = await send(subtext, "/environments", { headers: { cookie: tokenOf(used).cookie } });
  expect(again.statusCode).toBe(200);
});

describe("signing in", () => {
  test("sets a cookie that grants access to the operator API and that no script and no other site can use", async () => {
    const response = await signIn(subtext, credentials);
    expect(response.statusCode).toBe(200);
    const [cookie] = response.cookies;
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/internal" });
    expect(cookie?.secure).toBeUndefined();
    const environments = await send(subtext, "/environments", { headers: { cookie: cookieOf(response) } });
    expect(environments.statusCode).toBe(200);
    expect(environments.headers["cache-control"]).toBe("no-store");
  });

  test("sets a secure cookie if the service is reached by https", async () => {
    const { database, log } = subtext.service.parts;
    const publicUrl = "https://captions.example/subtext";
    const secret = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7));
    const operators = openOperators({ db: database.kysely, clock: systemClock, log, secret, publicUrl });
    const response = await operators.handle(
      new Request("https://captions.example/internal/auth/sign-in/email", {
        method: "POST",
        headers: { "content-type": "application/json", origin: "https://captions.example" },
        body: JSON.stringify(credentials),
      }),
    );
    expect(response.status).toBe(200);
    expect(response.headers.getSetCookie()[0]).toMatch(/^__Secure-.*; Secure/);
  });

  test("responds identically to a wrong password and an unknown email", async () => {
    const wrong = await signIn(subtext, { ...credentials, password: "not-the-password-at-all" });
    const unknown = await signIn(subtext, { ...credentials, email: "nobody@subtext.local" });
    expect(codeOf(wrong)).toEqual([401, "sign_in_failed"]);
    expect(codeOf(unknown)).toEqual([401, "sign_in_failed"]);
    expect(wrong.json().detail).toBe(unknown.json().detail);
    expect(wrong.headers["content-type"]).toMatch("application/problem+json");
  });

  test("rejects a body without an email and a password", async () => {
    for (const body of [{}, { email: 5, password: [] }, { email: credentials.email }]) {
      const response = await send(subtext, "/auth/sign-in/email", { method: "POST", body });
      expect(codeOf(response)).toEqual([400, "invalid_request"]);
    }
  });

  test("is throttled after five attempts from one address, also with the right password", async () => {
    const from = "198.51.100.7";
    const wrong = { ...credentials, password: "not-the-password-at-all" };
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await signIn(subtext, wrong, { from })).statusCode).toBe(401);
    }
    const refused = await signIn(subtext, credentials, { from });
    expect(codeOf(refused)).toEqual([429, "rate_limited"]);
    const waitSeconds = Number(refused.headers["retry-after"]);
    expect(waitSeconds).toBeGreaterThan(0);

    expect((await signIn(subtext, credentials, { from: "198.51.100.8" })).statusCode).toBe(200);
    clock.advance(waitSeconds * 1000);
    expect((await signIn(subtext, credentials, { from })).statusCode).toBe(200);
  });

  test("is throttled after many attempts at one account, from however many addresses", async () => {
    const attempt = (n: number, email = credentials.email) =>
      signIn(subtext, { email, password: "not-the-password-at-all" }, { from: `203.0.113.${n}` });
    for (let n = 0; n < 15; n++) expect((await attempt(n)).statusCode).toBe(401);
    expect(codeOf(await attempt(15))).toEqual([429, "rate_limited"]);
    expect(codeOf(await attempt(16, ` ${credentials.email.toUpperCase()} `))).toEqual([429, "rate_limited"]);
    expect((await attempt(17, "somebody.else@subtext.example")).statusCode).toBe(401);
    clock.advance(30_000);
    expect((await signIn(subtext, credentials, { from: "203.0.113.18" })).statusCode).toBe(200);
  });

  test("forwards only the fields of the route to the sign-in library", async () => {
    const body = { ...credentials, callbackURL: "https://evil.example/", rememberMe: false };
    const response = await send(subtext, "/auth/sign-in/email", {
      method: "POST",
      body,
      headers: { origin: subtext.url },
      from: "198.51.100.20",
    });
    expect(response.statusCode).toBe(200);
    expect(response.body).not.toContain("evil.example");
    expect(response.cookies[0]?.maxAge).toBeGreaterThan(3600);
  });

  test("counts all addresses of one IPv6 network as one", async () => {
    const wrong = { ...credentials, password: "not-the-password-at-all" };
    for (let attempt = 0; attempt < 5; attempt++) {
      await signIn(subtext, wrong, { from: `2001:db8:1:2::${attempt + 1}` });
    }
    expect((await signIn(subtext, credentials, { from: "2001:db8:1:2:ffff::9" })).statusCode).toBe(429);
    expect((await signIn(subtext, credentials, { from: "2001:db8:1:3::1" })).statusCode).toBe(200);
  });

  test("ignores headers that claim another address", async () => {
    const wrong = { ...credentials, password: "not-the-password-at-all" };
    const attempt = (n: number) =>
      send(subtext, "/auth/sign-in/email", {
        method: "POST",
        body: wrong,
        from: "198.51.100.9",
        headers: { "x-forwarded-for": `203.0.113.${n}`, "x-subtext-client-address": `203.0.113.${n}` },
      });
    for (let n = 0; n < 5; n++) expect((await attempt(n)).statusCode).toBe(401);
    expect((await attempt(6)).statusCode).toBe(429);
  });

  test("exposes no other route of the sign-in library", async () => {
    const body = { email: "a@b.example", password: "a-long-password", name: "A" };
    for (const path of ["/sign-up/email", "/sign-in/social", "/request-password-reset", "/delete-user"]) {
      const response = await send(subtext, `/auth${path}`, { method: "POST", body });
      expect(codeOf(response)).toEqual([404, "route_not_found"]);
    }
    for (const path of ["/ok", "/error", "/verify-email?token=x", "/callback/google"]) {
      expect((await send(subtext, `/auth${path}`)).statusCode).toBe(404);
    }
  });
});

describe("a session", () => {
  test("is required: a missing or invalid one gets no data", async () => {
    const cookie = cookieOf(await signIn(subtext, credentials));
    const [name, value = ""] = cookie.split("=");
    const token = value.split(".")[0];
    const madeUp = [
      {},
      { cookie: `${name}=${token}` },
      { cookie: `${name}=${token}.${"A".repeat(43)}%3D` },
      { cookie: `${cookie}x` },
      { cookie: `${name}=` },
    ];
    for (const headers of madeUp) {
      expect(codeOf(await send(subtext, "/environments", { headers }))).toEqual([401, "sign_in_required"]);
    }
  });

  test("ends at once when it is signed out, and when another session revokes it", async () => {
    const first = { cookie: cookieOf(await signIn(subtext, credentials)), origin: subtext.url };
    const second = { cookie: cookieOf(await signIn(subtext, credentials)), origin: subtext.url };
    const third = { cookie: cookieOf(await signIn(subtext, credentials)), origin: subtext.url };
    const status = async (headers: Record<string, string>) =>
      (await send(subtext, "/environments", { headers })).statusCode;
    expect(await Promise.all([first, second, third].map(status))).toEqual([200, 200, 200]);

    const listed = async (headers: Record<string, string>) =>
      (await send(subtext, "/auth/sessions", { headers })).json<{ data: SessionView[] }>().data;
    expect((await listed(first)).map(({ current }) => current)).toEqual([true, false, false]);

    expect((await send(subtext, "/auth/sign-out", { method: "POST", headers: first })).statusCode).toBe(200);
    expect(await Promise.all([first, second, third].map(status))).toEqual([401, 200, 200]);

    const fourth = { cookie: cookieOf(await signIn(subtext, credentials)), origin: subtext.url };
    const [{ id }] = (await listed(fourth)) as [SessionView];
    await send(subtext, `/auth/sessions/${id}`, { method: "DELETE", headers: second });
    expect(await Promise.all([second, third, fourth].map(status))).toEqual([200, 200, 401]);

    await send(subtext, "/auth/sessions", { method: "DELETE", headers: second });
    expect(await Promise.all([first, second, third].map(status))).toEqual([401, 200, 401]);
  });

  test("can be ended only by its own operator", async () => {
    const viewer = await addViewer(subtext);
    const headers = { cookie: cookieOf(await signIn(subtext, viewer)), origin: subtext.url };
    const owner = { cookie: cookieOf(await signIn(subtext, credentials)), origin: subtext.url };
    const [{ id }] = (await send(subtext, "/auth/sessions", { headers: owner })).json().data;
    await send(subtext, `/auth/sessions/${id}`, { method: "DELETE", headers });
    await send(subtext, "/auth/sessions", { method: "DELETE", headers });
    for (const each of [owner, headers]) {
      expect((await send(subtext, "/environments", { headers: each })).statusCode).toBe(200);
    }
    await subtext.service.parts.database.kysely
      .deleteFrom("operator")
      .where("email", "=", viewer.email)
      .execute();
  });

  test("can change the password with the previous one", async () => {
    const headers = { cookie: cookieOf(await signIn(subtext, credentials)), origin: subtext.url };
    const change = (currentPassword: string, newPassword: string) =>
      send(subtext, "/auth/change-password", {
        method: "POST",
        headers,
        body: { currentPassword, newPassword, revokeOtherSessions: true },
      });
    expect((await change("not-the-password-at-all", "another-long-password")).statusCode).toBe(400);
    expect((await change(credentials.password, "short")).statusCode).toBe(400);
    expect((await change(credentials.password, "another-long-password")).statusCode).toBe(200);
    // The first address has used up its wrong passwords.
    const from = "198.51.100.10";
    expect((await signIn(subtext, credentials, { from })).statusCode).toBe(401);
    const changed = { ...credentials, password: "another-long-password" };
    expect((await signIn(subtext, changed, { from })).statusCode).toBe(200);
  });

  test("that was stolen cannot be used to guess the password from many addresses", async () => {
    const headers = { cookie: cookieOf(await signIn(subtext, credentials)), origin: subtext.url };
    const guess = (n: number) =>
      send(subtext, "/auth/change-password", {
        method: "POST",
        headers,
        body: { currentPassword: `a guess, number ${n}`, newPassword: "another-long-password" },
        from: `203.0.113.${n}`,
      });
    // The sign-in was the first of fifteen.
    for (let n = 1; n < 15; n++) expect((await guess(n)).statusCode).toBe(400);
    expect(codeOf(await guess(15))).toEqual([429, "rate_limited"]);
  });

  test("is throttled per operator when it guesses the password, whatever the request's body names", async () => {
    const headers = { cookie: cookieOf(await signIn(subtext, credentials)), origin: subtext.url };
    const guess = (n: number, extra: object) =>
      send(subtext, "/auth/change-password", {
        method: "POST",
        headers,
        body: { currentPassword: `a guess, number ${n}`, newPassword: "another-long-password", ...extra },
        from: `203.0.113.${n}`,
      });
    const extras = (n: number) => [
      { email: `somebody.${n}@subtext.example` },
      { email: n },
      { email: null, user: { email: `somebody.${n}@subtext.example` } },
    ];
    for (let n = 1; n < 15; n++) expect((await guess(n, extras(n)[n % 3]!)).statusCode).toBe(400);
    for (const extra of extras(15)) {
      expect(codeOf(await guess(15, extra))).toEqual([429, "rate_limited"]);
    }
  });

  test("cannot be used by a page of another origin, nor by one that hides its origin", async () => {
    const cookie = cookieOf(await signIn(subtext, credentials));
    const create = (headers: Record<string, string>, name: string) =>
      send(subtext, "/environments", { method: "POST", body: { name }, headers: { cookie, ...headers } });
    for (const origin of [
      "https://evil.example",
      "null",
      `${subtext.url}.evil.example`,
      "http://127.0.0.1:1",
    ]) {
      expect(codeOf(await create({ origin }, origin))).toEqual([403, "origin_not_allowed"]);
    }
    expect(codeOf(await create({}, "no origin"))).toEqual([403, "origin_not_allowed"]);
    expect((await create({ origin: subtext.url }, "own origin")).statusCode).toBe(201);

    const reading = await send(subtext, "/environments", {
      headers: { cookie, origin: "https://evil.example" },
    });
    expect(reading.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("cannot be created by a page of another origin", async () => {
    const response = await signIn(subtext, credentials, { origin: "https://evil.example" });
    expect(codeOf(response)).toEqual([403, "origin_not_allowed"]);
    expect(response.cookies).toEqual([]);
  });
});

test("a session works behind a proxy with basic authentication, but not for pages of other origins", async () => {
  const headers = {
    authorization: `Basic ${btoa("olive:secret")}`,
    cookie: cookieOf(await signIn(subtext, credentials)),
  };
  expect((await send(subtext, "/environments", { headers })).statusCode).toBe(200);
  const create = (origin: string, name: string) =>
    send(subtext, "/environments", { method: "POST", headers: { ...headers, origin }, body: { name } });
  expect((await create(subtext.url, "Behind a proxy")).statusCode).toBe(201);
  expect(codeOf(await create("https://evil.example", "Forged"))).toEqual([403, "origin_not_allowed"]);
});

describe("the command line's token", () => {
  test("grants access to the operator API, and similar tokens do not", async () => {
    expect((await sendAsCommandLine(subtext, "/environments")).statusCode).toBe(200);
    const { commandLineToken } = subtext.service.parts;
    for (const authorization of ["", "Bearer", "Bearer x", commandLineToken, `Bearer ${commandLineToken}x`]) {
      const response = await send(subtext, "/environments", { headers: { authorization } });
      expect(codeOf(response)).toEqual([401, "sign_in_required"]);
    }
  });

  test("resets a lost password and ends every session, which a session itself may not do", async () => {
    const headers = { cookie: cookieOf(await signIn(subtext, credentials)), origin: subtext.url };
    const bySession = await send(subtext, "/operator/reset-password", {
      method: "POST",
      headers,
      body: {},
    });
    expect(codeOf(bySession)).toEqual([403, "command_line_required"]);

    const reset = await sendAsCommandLine(subtext, "/operator/reset-password", {
      method: "POST",
      body: {},
    });
    expect((await signIn(subtext, credentials)).statusCode).toBe(401);
    expect((await signIn(subtext, reset.json<Credentials>())).statusCode).toBe(200);
    expect((await send(subtext, "/environments", { headers })).statusCode).toBe(401);
  });
});

test("the tables match what better-auth requires", async () => {
  const { database, log } = subtext.service.parts;
  const options = authOptions({
    db: database.kysely,
    clock,
    log,
    secret: Buffer.alloc(32, "secret"),
    publicUrl: subtext.url,
  });
  const { toBeCreated, toBeAdded, schemaProblems } = await getMigrations(options);
  expect({ toBeCreated, toBeAdded, schemaProblems }).toEqual({
    toBeCreated: [],
    toBeAdded: [],
    schemaProblems: [],
  });
});

test("neither passwords nor session tokens are logged", async () => {
  const response = await signIn(subtext, credentials);
  await signIn(subtext, { ...credentials, password: "a-password-that-is-wrong" });
  await send(subtext, "/environments", { headers: { cookie: cookieOf(response) } });
  const logged = subtext.logged();
  expect(logged).toContain("/internal/auth/sign-in/email");
  expect(logged).not.toContain(credentials.password);
  expect(logged).not.toContain("a-password-that-is-wrong");
  expect(logged).not.toContain(tokenOf(response).token);
  expect(logged).not.toContain(subtext.service.parts.commandLineToken);
});

test("behind a proxy, the address that the proxy reports counts, not what the client claims", async () => {
  const proxied = await startService({ start: false, env: { TRUST_PROXY: "true" } });
  const attempt = (said: string, seen: string) =>
    send(proxied, "/auth/sign-in/email", {
      method: "POST",
      body: { email: "operator@subtext.local", password: "not-the-password-at-all" },
      headers: { "x-forwarded-for": `${said}, ${seen}` },
    });
  for (let n = 0; n < 5; n++) {
    expect((await attempt(`203.0.113.${n}`, "198.51.100.1")).statusCode).toBe(401);
  }
  expect((await attempt("203.0.113.9", "198.51.100.1")).statusCode).toBe(429);
  expect((await attempt("203.0.113.9", "198.51.100.2")).statusCode).toBe(401);
});
