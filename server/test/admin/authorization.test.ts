import { beforeAll, describe, expect, test } from "vitest";
import type { Role } from "../../src/admin/contract/operation.ts";
import { ADMIN_OPERATIONS, type OperationKey } from "../../src/admin/operation.ts";
import { routesOf } from "../support/known-routes.ts";
import { shareService } from "../support/service.ts";
import { addViewer, cookieOf, type OperatorRequest, send, setUp, signIn } from "./operator-requests.ts";

const subtext = shareService({ start: false });
const REFUSALS = ["sign_in_required", "owner_required", "command_line_required"];
const CALLERS = ["stranger", "viewer", "owner", "command line"] as const;
type Caller = (typeof CALLERS)[number];

/** The refusal that each caller gets from an operation of each role; null if the caller is let in. */
const EXPECTED: Record<Role, Record<Caller, string | null>> = {
  anyone: { stranger: null, viewer: null, owner: null, "command line": null },
  session: { stranger: "sign_in_required", viewer: null, owner: null, "command line": "sign_in_required" },
  viewer: { stranger: "sign_in_required", viewer: null, owner: null, "command line": null },
  owner: { stranger: "sign_in_required", viewer: "owner_required", owner: null, "command line": null },
  "command line": {
    stranger: "sign_in_required",
    viewer: "command_line_required",
    owner: "command_line_required",
    "command line": null,
  },
};

/** Their handlers end sessions, load engines, read every file or stream without an end. */
const NOT_CALLED_IF_ALLOWED: OperationKey[] = [
  "POST /auth/sign-out",
  "DELETE /auth/sessions",
  "GET /doctor",
  "POST /file-check",
  "GET /environments/:environment/videos/changes",
  "POST /operator/reset-password",
];

const operations = Object.entries(ADMIN_OPERATIONS) as [OperationKey, { role: Role }][];
let headers: Record<Caller, Record<string, string>>;

beforeAll(async () => {
  const origin = subtext.url;
  const cookie = async (credentials: Parameters<typeof signIn>[1], from: string) =>
    cookieOf(await signIn(subtext, credentials, { from }));
  headers = {
    stranger: { origin },
    owner: { origin, cookie: await cookie(await setUp(subtext), "192.0.2.1") },
    viewer: { origin, cookie: await cookie(await addViewer(subtext), "192.0.2.2") },
    "command line": { authorization: `Bearer ${subtext.service.parts.commandLineToken}` },
  };
});

let calls = 0;
async function refusal(operation: OperationKey, caller: Caller): Promise<string | null> {
  const [method, path] = operation.split(" ") as [OperatorRequest["method"], string];
  calls += 1;
  const response = await send(subtext, path.replace(/:\w+/g, "none"), {
    ...(method && { method }),
    headers: headers[caller],
    // Attempts to guess are limited by address.
    from: `198.51.${calls >> 8}.${calls & 255}`,
  });
  const { code = null } = method === "HEAD" || response.statusCode < 400 ? {} : response.json();
  return REFUSALS.includes(code) ? code : null;
}

describe.each(operations)("%s", (operation, { role }) => {
  test.each(CALLERS)("lets in the callers of its role and refuses others: %s", async (caller) => {
    const expected = EXPECTED[role][caller];
    if (expected === null && NOT_CALLED_IF_ALLOWED.includes(operation)) return;
    // A response to HEAD has no body that could contain the code; the GET beside it has the same role.
    if (operation.startsWith("HEAD ")) return;
    expect(await refusal(operation, caller)).toBe(expected);
  });
});

test("operations that change something are for owners, except for those about the caller's own account", () => {
  const open = operations.filter(
    ([key, { role }]) => !/^(GET|HEAD) /.test(key) && /^(anyone|session|viewer)$/.test(role),
  );
  expect(open.map(([key]) => key)).toEqual([
    "POST /setup",
    "POST /join/look-up",
    "POST /join",
    "POST /auth/sign-in/email",
    "POST /auth/change-password",
    "POST /auth/sign-out",
    "DELETE /auth/sessions",
    "DELETE /auth/sessions/:id",
  ]);
});

test("every route below /internal is an operation of the table", () => {
  const routes = routesOf(subtext.service.parts.app).filter(({ path }) => path.startsWith("/internal"));
  const keys = routes
    .filter(({ method }) => method !== "HEAD")
    .map(({ method, path }) => `${method} ${path.slice("/internal".length)}`);
  const expected = operations.map(([key]) => key).filter((key) => !key.startsWith("HEAD "));
  expect(keys.sort()).toEqual(expected.sort());
});
