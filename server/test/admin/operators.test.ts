import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { InvitationView, NewInvitationView, OperatorView } from "../../src/admin/contract/operator.ts";
import type { Credentials } from "../../src/operators/operators.ts";
import { MovableClock, shareService } from "../support/service.ts";
import { addViewer, codeOf, cookieOf, send, signIn } from "./operator-requests.ts";

const clock = new MovableClock();
const subtext = shareService({ start: false, clock });
let owner: Record<string, string>;
let viewer: Record<string, string>;

async function sessionOf(credentials: Credentials): Promise<Record<string, string>> {
  return { cookie: cookieOf(await signIn(subtext, credentials)), origin: subtext.url };
}

const post = (path: string, body: object, headers: Record<string, string> = { origin: subtext.url }) =>
  send(subtext, path, { method: "POST", body, headers });

const OLIVE = { name: "Olive", email: "Olive@Subtext.example", password: "a long password" };

beforeEach(() => {
  clock.advance(3_600_000);
});

describe("setup", () => {
  const environment = { name: "Production", aiTranscription: true };
  let token: string;

  beforeAll(async () => {
    token = (await subtext.service.parts.operators.newSetUpToken()) ?? "";
  });

  test("is offered with a new link at each start, which is not in the database and replaces the previous one", async () => {
    const { operators, database } = subtext.service.parts;
    const earlier = token;
    token = (await operators.newSetUpToken()) ?? "";
    expect(token.length).toBeGreaterThan(40);
    expect((await send(subtext, "/setup")).json()).toEqual({ needed: true, hasEnvironment: false });
    expect(codeOf(await post("/setup", { ...OLIVE, token: earlier }))).toEqual([403, "set_up_link_invalid"]);
    const stored = await database.kysely
      .selectFrom("service_secret")
      .select("value")
      .where("name", "=", "set_up")
      .executeTakeFirstOrThrow();
    expect(Buffer.from(token, "base64url").toString("base64")).not.toBe(stored.value);
    for (const value of [stored.value, Buffer.from(stored.value, "hex").toString("base64url")]) {
      expect(codeOf(await post("/setup", { ...OLIVE, token: value }))).toEqual([403, "set_up_link_invalid"]);
    }
  });

  test("requires the link's token, a name, a valid email and a long password", async () => {
    expect(codeOf(await post("/setup", { ...OLIVE, token: "made-up" }))).toEqual([
      403,
      "set_up_link_invalid",
    ]);
    clock.advance(3_600_000);
    for (const wrong of [{ name: " " }, { email: "olive" }, { email: "a@b" }, { password: "short" }]) {
      expect(codeOf(await post("/setup", { ...OLIVE, token, ...wrong }))).toEqual([400, "invalid_request"]);
    }
    clock.advance(3_600_000);
    const foreign = await post("/setup", { ...OLIVE, token }, { origin: "https://evil.example" });
    expect(codeOf(foreign)).toEqual([403, "origin_not_allowed"]);
  });

  test("is atomic, and creates one owner if two requests arrive at once", async () => {
    const wrong = await post("/setup", { ...OLIVE, token, environment: { ...environment, name: " " } });
    expect(codeOf(wrong)).toEqual([400, "invalid_request"]);
    expect((await send(subtext, "/setup")).json().needed).toBe(true);

    const answers = await Promise.all([
      post("/setup", { ...OLIVE, token, environment }),
      post("/setup", { ...OLIVE, email: "mallory@subtext.example", token }),
    ]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 403]);
    const made = answers.find(({ statusCode }) => statusCode === 201)!;
    const me = await send(subtext, "/me", { headers: { cookie: cookieOf(made) } });
    expect(me.json()).toMatchObject({ name: "Olive", role: "owner" });
    expect(await subtext.service.parts.operators.newSetUpToken()).toBeNull();
    expect((await send(subtext, "/setup")).json().needed).toBe(false);
    expect(codeOf(await post("/setup", { ...OLIVE, token }))).toEqual([403, "set_up_link_invalid"]);
    owner = { cookie: cookieOf(made), origin: subtext.url };
  });
});

describe("a viewer", () => {
  beforeAll(async () => {
    viewer = await sessionOf(await addViewer(subtext));
  });

  test("sees what an owner sees", async () => {
    for (const path of ["/me", "/environments", "/operators", "/invitations"]) {
      expect((await send(subtext, path, { headers: viewer })).statusCode).toBe(200);
    }
  });

  test("changes and ends what is its own: sessions", async () => {
    const another = await sessionOf({
      email: "viewer@subtext.example",
      password: "password of viewer@subtext.example",
    });
    expect((await post("/auth/sign-out", {}, another)).statusCode).toBe(200);
  });
});

describe("an invitation", () => {
  const invite = async (email: string, role = "viewer") => {
    const response = await post("/invitations", { email, role }, owner);
    expect(response.statusCode).toBe(201);
    const { url, ...view } = response.json<NewInvitationView>();
    return { view, token: new URL(url).hash.slice(1), url };
  };
  const join = (token: string) => post("/join", { token, name: "Ivo", password: "a password of his own" });

  test("admits one person, once, with its role and email", async () => {
    const { view, token, url } = await invite("Ivo@Subtext.example");
    expect(url).toMatch(`${subtext.url}/join#`);
    expect(view).toMatchObject({ email: "ivo@subtext.example", role: "viewer" });
    const listed = await send(subtext, "/invitations", { headers: owner });
    expect(listed.json<{ data: InvitationView[] }>().data).toEqual([view]);
    expect(listed.payload).not.toContain(token);

    expect((await post("/join/look-up", { token })).json()).toEqual(view);
    const joined = await join(token);
    expect(joined.statusCode).toBe(201);
    const me = await send(subtext, "/me", { headers: { cookie: cookieOf(joined) } });
    expect(me.json()).toMatchObject({ email: "ivo@subtext.example", role: "viewer", name: "Ivo" });
    expect(codeOf(await join(token))).toEqual([403, "invitation_invalid"]);
    const again = await post("/invitations", { email: "ivo@subtext.example", role: "owner" }, owner);
    expect(codeOf(again)).toEqual([409, "operator_email_taken"]);
  });

  test("expires after seven days, is revocable, and is replaced by another", async () => {
    const first = await invite("late@subtext.example");
    const second = await invite("late@subtext.example", "owner");
    expect(codeOf(await join(first.token))).toEqual([403, "invitation_invalid"]);
    const path = `/invitations/${second.view.id}`;
    expect((await send(subtext, path, { method: "DELETE", headers: owner })).statusCode).toBe(204);
    expect(codeOf(await join(second.token))).toEqual([403, "invitation_invalid"]);
    const third = await invite("late@subtext.example");
    clock.advance(7 * 86_400_000);
    expect(codeOf(await join(third.token))).toEqual([403, "invitation_invalid"]);
  });
});

describe("removing an operator", () => {
  test("ends their sessions; the last owner cannot be removed", async () => {
    const { data } = (await send(subtext, "/operators", { headers: owner })).json<{ data: OperatorView[] }>();
    const idOf = (role: string) => data.find((operator) => operator.role === role)?.id ?? "";
    const remove = (id: string) => send(subtext, `/operators/${id}`, { method: "DELETE", headers: owner });
    expect(codeOf(await remove(idOf("owner")))).toEqual([409, "last_owner"]);
    expect(codeOf(await remove("operator_unknown"))).toEqual([404, "operator_not_found"]);
    expect((await remove(idOf("viewer"))).statusCode).toBe(204);
    expect(codeOf(await send(subtext, "/me", { headers: viewer }))).toEqual([401, "sign_in_required"]);
  });
});
