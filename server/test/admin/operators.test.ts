import { setTimeout } from "node:timers/promises";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { EnvironmentView } from "../../src/admin/contract/environment.ts";
import type {
  InvitationView,
  MeView,
  NewInvitationView,
  OperatorView,
} from "../../src/admin/contract/operator.ts";
import type { OperatorAccess } from "../../src/db/enums.ts";
import type { Tx } from "../../src/db/schema.ts";
import { listEnvironments } from "../../src/environments/queries.ts";
import type { Credentials } from "../../src/operators/operators.ts";
import { listOperators, type Operator, replaceAccess } from "../../src/operators/queries.ts";
import { MovableClock, shareService } from "../support/service.ts";
import { addOperator, addViewer, codeOf, cookieOf, send, signIn } from "./operator-requests.ts";

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
    token = (await subtext.service.parts.operators.newSetupToken()) ?? "";
  });

  test("is offered with a new link at each start, which is not in the database and replaces the previous one", async () => {
    const { operators, database } = subtext.service.parts;
    const earlier = token;
    token = (await operators.newSetupToken()) ?? "";
    expect(token.length).toBeGreaterThan(40);
    expect((await send(subtext, "/setup")).json()).toEqual({
      needed: true,
      hasEnvironment: false,
      engines: [],
    });
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
    // The tests set MODEL_DOWNLOAD=off.
    const absent = await post("/setup", { ...OLIVE, token, environment, engine: "whisper-tiny" });
    expect(absent.json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining("MODEL_DOWNLOAD=off allows only bundled."),
    });
    expect((await send(subtext, "/setup")).json().needed).toBe(true);
    clock.advance(3_600_000);

    const answers = await Promise.all([
      post("/setup", { ...OLIVE, token, environment, engine: "bundled" }),
      post("/setup", { ...OLIVE, email: "mallory@subtext.example", token, engine: "bundled" }),
    ]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 403]);
    const made = answers.find(({ statusCode }) => statusCode === 201)!;
    const me = await send(subtext, "/me", { headers: { cookie: cookieOf(made) } });
    expect(me.json()).toMatchObject({ name: "Olive", role: "owner" });
    expect(await subtext.service.parts.operators.newSetupToken()).toBeNull();
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

  test("can sign out", async () => {
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

describe("an operator with a role in some environments", () => {
  const EMAIL = "eve@subtext.example";
  let north: string;
  let south: string;
  let eve: Record<string, string>;
  let eveId: string;

  const get = (path: string) => send(subtext, path, { headers: eve });
  const change = (id: string, body: object, headers = owner) =>
    send(subtext, `/operators/${id}`, { method: "PATCH", body, headers });
  const environmentsOf = async () =>
    (await get("/environments")).json<{ data: EnvironmentView[] }>().data.map(({ name }) => name);

  beforeAll(async () => {
    north = (await post("/environments", { name: "North" }, owner)).json<EnvironmentView>().id;
    south = (await post("/environments", { name: "South" }, owner)).json<EnvironmentView>().id;
  });

  test("joins through an invitation that names the environments", async () => {
    const environments = [{ environment: "South", role: "editor" }];
    for (const wrong of [
      {},
      { role: "editor", environments },
      { environments: [...environments, ...environments] },
    ]) {
      expect(codeOf(await post("/invitations", { email: EMAIL, ...wrong }, owner))).toEqual([
        400,
        "invalid_request",
      ]);
    }
    const unknown = { email: EMAIL, environments: [{ environment: "Nowhere", role: "editor" }] };
    expect(codeOf(await post("/invitations", unknown, owner))).toEqual([404, "environment_not_found"]);

    const invited = await post("/invitations", { email: EMAIL, environments }, owner);
    const { url, ...invitation } = invited.json<NewInvitationView>();
    const access = { role: null, environments: [{ id: south, name: "South", role: "editor" }] };
    expect(invitation).toMatchObject(access);
    const token = new URL(url).hash.slice(1);
    expect((await post("/join/look-up", { token })).json()).toMatchObject(access);
    const joined = await post("/join", { token, name: "Eve", password: "a password of her own" });
    eve = { cookie: cookieOf(joined), origin: subtext.url };
    const me = (await get("/me")).json<MeView>();
    expect(me).toMatchObject(access);
    eveId = me.id;
    const { data } = (await send(subtext, "/operators", { headers: owner })).json<{ data: OperatorView[] }>();
    expect(data.find(({ id }) => id === eveId)).toMatchObject(access);
  });

  test("sees only these environments, and keeps the session when they change", async () => {
    expect(await environmentsOf()).toEqual(["South"]);
    const environments = [
      { environment: south, role: "viewer" },
      { environment: north, role: "owner" },
    ];
    const changed = await change(eveId, { environments });
    expect(changed.json()).toMatchObject({
      role: null,
      environments: [
        { name: "South", role: "viewer" },
        { name: "North", role: "owner" },
      ],
    });
    expect(await environmentsOf()).toEqual(["North", "South"]);
    const upload = (environment: string) =>
      post(`/environments/${environment}/videos`, { filename: "a.mp4", sizeBytes: 1 }, eve);
    expect((await upload("North")).statusCode).toBe(201);
    expect(codeOf(await upload("South"))).toEqual([403, "role_required"]);

    await change(eveId, { environments: [{ environment: south, role: "viewer" }] });
    expect(await environmentsOf()).toEqual(["South"]);
    expect(codeOf(await upload("North"))).toEqual([404, "environment_not_found"]);
    expect(codeOf(await get(`/environments/${north}/videos`))).toEqual([404, "environment_not_found"]);
  });

  test("sees settings of environments only as owner or viewer", async () => {
    const fieldsFor = async (body: object) => {
      await change(eveId, body);
      const { data } = (await get("/environments")).json<{ data: object[] }>();
      return data.map((environment) => Object.keys(environment));
    };
    const summary = ["id", "name", "aiTranscription", "createdAt"];
    const settings = ["allowedOrigins", "retention", "weight", "vocabulary"];
    for (const [role, fields] of [
      ["owner", [...summary, ...settings]],
      ["viewer", [...summary, ...settings]],
      ["editor", summary],
    ] as const) {
      expect(await fieldsFor({ environments: [{ environment: south, role }] }), role).toEqual([fields]);
      for (const seen of await fieldsFor({ role })) expect(seen, role).toEqual(fields);
    }
    const mixed = [
      { environment: north, role: "editor" },
      { environment: south, role: "owner" },
    ];
    expect(await fieldsFor({ environments: mixed })).toEqual([summary, [...summary, ...settings]]);
  });

  test("gets a role in all environments, which replaces the others", async () => {
    expect((await change(eveId, { role: "editor" })).json()).toMatchObject({
      role: "editor",
      environments: [],
    });
    expect(await environmentsOf()).toEqual(expect.arrayContaining(["North", "South"]));
    expect(codeOf(await change("operator_unknown", { role: "owner" }))).toEqual([404, "operator_not_found"]);
    expect(codeOf(await change("operator-unknown", { role: "owner" }))).toEqual([404, "operator_not_found"]);
  });

  test("does not own the service by owning an environment", async () => {
    await change(eveId, { environments: [{ environment: north, role: "owner" }] });
    expect(codeOf(await change(eveId, { role: "owner" }, eve))).toEqual([403, "owner_required"]);
    expect(codeOf(await post("/environments", { name: "Third" }, eve))).toEqual([403, "owner_required"]);
    const key = await post(`/environments/${north}/api-keys`, {}, eve);
    expect(key.statusCode).toBe(201);
  });

  test("is one of two owners who demote each other at once, and one remains", async () => {
    const { id: ownerId } = (await send(subtext, "/me", { headers: owner })).json<MeView>();
    expect(codeOf(await change(ownerId, { role: "viewer" }))).toEqual([409, "last_owner"]);
    const environments = [{ environment: north, role: "owner" }];
    expect(codeOf(await change(ownerId, { environments }))).toEqual([409, "last_owner"]);

    await change(eveId, { role: "owner" });
    const answers = await Promise.all([
      change(eveId, { role: "editor" }),
      change(ownerId, { environments }, eve),
    ]);
    // The second is refused as the last owner or, if it was authorized later, because she is no owner any more.
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    // Not through the API, because the caller may be the one who was demoted.
    const owners = (await listOperators(subtext.service.parts.database.kysely)).filter(
      ({ role }) => role === "owner",
    );
    expect(owners).toHaveLength(1);
    if (owners[0]?.id === eveId) expect((await change(ownerId, { role: "owner" }, eve)).statusCode).toBe(200);
    expect(
      (await send(subtext, `/operators/${eveId}`, { method: "DELETE", headers: owner })).statusCode,
    ).toBe(204);
  });
});

test("of two transactions that demote the last two owners, the second waits and fails", async () => {
  const { clock, database } = subtext.service.parts;
  const db = database.kysely;
  await addOperator(subtext, { email: "other@subtext.example", role: "owner" });
  const owners = (await listOperators(db)).filter(({ role }) => role === "owner");
  const viewer = { role: "viewer", environments: [], now: clock.now() } satisfies OperatorAccess & {
    now: Date;
  };
  const [first, second] = owners.map(({ id }) => id) as [string, string];
  const outcomes = await runDuring(
    (tx) => replaceAccess(tx, first, viewer),
    () => db.transaction().execute((tx) => replaceAccess(tx, second, viewer)),
  );
  expect(outcomes).toEqual([expect.objectContaining({ id: first, role: "owner" }), "last_owner"]);
  await db.transaction().execute((tx) => replaceAccess(tx, first, { ...viewer, role: "owner" }));
  await db.deleteFrom("operator").where("email", "=", "other@subtext.example").execute();
});

test.each<[string, (id: string, audit: (tx: Tx, before: Operator) => Promise<void>) => Promise<unknown>]>([
  [
    "change of roles",
    (id, audit) => subtext.service.parts.operators.changeAccess(id, { role: "owner" }, audit),
  ],
  ["removal", (id, audit) => subtext.service.parts.operators.remove(id, audit)],
])("the audit log of a %s states the roles that a concurrent change has set", async (_what, act) => {
  const { clock, database } = subtext.service.parts;
  const email = "changed@subtext.example";
  await addOperator(subtext, { email, role: "viewer" });
  const { id } = (await listOperators(database.kysely)).find((each) => each.email === email)!;
  const [environment] = await listEnvironments(database.kysely);
  const memberOf = [{ id: environment!.id, name: environment!.name, role: "editor" as const }];
  const audited: OperatorAccess[] = [];
  await runDuring(
    (tx) => replaceAccess(tx, id, { role: null, environments: memberOf, now: clock.now() }),
    () => act(id, async (_tx, { role, environments }) => void audited.push({ role, environments })),
  );
  expect(audited).toEqual([{ role: null, environments: memberOf }]);
  await database.kysely.deleteFrom("operator").where("id", "=", id).execute();
});

/** Runs `work` in a transaction, and `other` while the transaction is open. */
async function runDuring<First, Second>(
  work: (tx: Tx) => Promise<First>,
  other: () => Promise<Second>,
): Promise<[First, Second]> {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const first = subtext.service.parts.database.kysely.transaction().execute(async (tx) => {
    const outcome = await work(tx);
    begun.resolve();
    await ended.promise;
    return outcome;
  });
  await begun.promise;
  const second = other();
  await Promise.race([second, setTimeout(300)]);
  ended.resolve();
  return await Promise.all([first, second]);
}

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
