import { beforeAll, describe, expect, test } from "vitest";
import type { Operation } from "../../src/admin/contract/operation.ts";
import { ADMIN_OPERATIONS, type OperationKey } from "../../src/admin/operation.ts";
import { scopeOf } from "../../src/admin/scope.ts";
import { createApiKey } from "../../src/api-keys/api-keys.ts";
import { OPERATOR_ROLES, type OperatorRole } from "../../src/db/enums.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createWebhookEndpoint } from "../../src/webhooks/endpoints.ts";
import { listRoutes } from "../support/list-routes.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import { createTenant, shareService } from "../support/service.ts";
import { addOperator, cookieOf, type OperatorRequest, send, setUp, signIn } from "./operator-requests.ts";

const subtext = shareService({ start: false });

/** Where an operator has a role. Requests name things in the environment `here`. */
const PLACES = ["all environments", "here", "elsewhere"] as const;
type Place = (typeof PLACES)[number];
type Caller = "stranger" | "command line" | `${OperatorRole} in ${Place}`;
const OPERATORS = OPERATOR_ROLES.flatMap((role) => PLACES.map((place) => ({ role, place })));
const CALLERS: Caller[] = [
  "stranger",
  "command line",
  ...OPERATORS.map(({ role, place }) => `${role} in ${place}` as const),
];

/** The codes with which a caller is refused; other errors are about the request. */
const REFUSALS = ["sign_in_required", "owner_required", "role_required", "command_line_required"];
/** Keyed by the starts of paths that name something in one environment. */
const NOT_FOUND: Record<string, string> = {
  "/environments/:environment": "environment_not_found",
  "/api-keys/:id": "api_key_not_found",
  "/webhook-endpoints/:id": "webhook_endpoint_not_found",
  "/transcriptions/:id": "transcription_not_found",
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

const operations = Object.entries(ADMIN_OPERATIONS) as [OperationKey, Operation][];
const startOf = (operation: string) =>
  Object.keys(NOT_FOUND).find((start) => `${operation.split(" ")[1]}/`.startsWith(`${start}/`));

/** The refusal that a caller should get; null if the caller is let in. */
function expectedRefusal(operation: OperationKey, caller: Caller): string | null {
  const { callers, roleIn } = ADMIN_OPERATIONS[operation] as Operation;
  if (callers === "anyone") return null;
  if (caller === "stranger") return "sign_in_required";
  if (caller === "command line") return callers === "session" ? "sign_in_required" : null;
  if (callers === "session") return null;
  if (callers === "command line") return "command_line_required";
  const { role, place } = OPERATORS.find((each) => `${each.role} in ${each.place}` === caller)!;
  if (place === "elsewhere" && startOf(operation)) return NOT_FOUND[startOf(operation)!]!;
  if (callers.includes(role) && (place === "all environments" || roleIn !== "all environments")) return null;
  return callers.length === 1 ? "owner_required" : "role_required";
}

const headers = new Map<Caller, Record<string, string>>();
let environmentId: string;
/** Values of the parameters: things in `here`. */
const known: Record<string, string> = {};

beforeAll(async () => {
  const origin = subtext.url;
  await setUp(subtext);
  ({ environmentId } = await createTenant(subtext));
  const { environmentId: elsewhere } = await createTenant(subtext);
  const db = subtext.service.parts.database.kysely;
  const key = { environmentId, name: "test", permissions: [], expiresAt: null };
  const { videoId } = await seedTranscript(subtext.service, {
    environmentId,
    language: "en",
    text: "Hello.",
  });
  known["/environments/:environment"] = environmentId;
  known["/api-keys/:id"] = (await createApiKey({ db, clock: systemClock }, key)).id;
  known["/webhook-endpoints/:id"] = await addEndpoint();
  known["/transcriptions/:id"] = videoId;
  headers.set("stranger", { origin });
  headers.set("command line", { authorization: `Bearer ${subtext.service.parts.commandLineToken}` });
  for (const [index, { role, place }] of OPERATORS.entries()) {
    const environment = place === "here" ? environmentId : elsewhere;
    const access = place === "all environments" ? { role } : { environments: [{ environment, role }] };
    const credentials = await addOperator(subtext, { email: `operator.${index}@subtext.example`, ...access });
    const response = await signIn(subtext, credentials, { from: `192.0.2.${index}` });
    headers.set(`${role} in ${place}`, { origin, cookie: cookieOf(response) });
  }
});

async function addEndpoint(): Promise<string> {
  const { database, endpointPolicy } = subtext.service.parts;
  const deps = { db: database.kysely, clock: systemClock, policy: endpointPolicy };
  const endpoint = { environmentId, url: "https://receiver.example/", metadata: {} };
  return (await createWebhookEndpoint(deps, endpoint)).id;
}

let calls = 0;
async function call(operation: OperationKey, caller: Caller, values = known) {
  const [method, path] = operation.split(" ") as [NonNullable<OperatorRequest["method"]>, string];
  const start = startOf(operation) ?? "";
  const named = path.replace(start, start.replace(/:\w+/, values[start] ?? ""));
  calls += 1;
  return await send(subtext, named.replace(/:\w+/g, "none"), {
    method,
    headers: headers.get(caller) ?? {},
    // Attempts to guess are limited by address.
    from: `198.51.${calls >> 8}.${calls & 255}`,
  });
}

describe.each(operations)("%s", (operation) => {
  test.each(CALLERS)("lets in the callers of its roles and refuses others: %s", async (caller) => {
    const expected = expectedRefusal(operation, caller);
    if (expected === null && NOT_CALLED_IF_ALLOWED.includes(operation)) return;
    // A response to HEAD has no body that could contain the code; the GET beside it has the same callers.
    if (operation.startsWith("HEAD ")) return;
    if (operation === "DELETE /webhook-endpoints/:id") known["/webhook-endpoints/:id"] = await addEndpoint();
    const response = await call(operation, caller);
    const { code = null } = response.statusCode < 400 ? {} : response.json();
    const refusals = [...REFUSALS, NOT_FOUND[startOf(operation) ?? ""]];
    expect(refusals.includes(code) ? code : null).toBe(expected);
  });
});

test.each(operations.filter(([key]) => startOf(key) && !key.startsWith("HEAD ")))(
  "%s answers for another environment as for an id that does not exist",
  async (operation) => {
    const seen = await Promise.all(
      [known, { [startOf(operation)!]: "unknown" }].map(async (values) => {
        const response = await call(operation, "owner in elsewhere", values);
        const { title, status, code, detail } = response.json();
        const id = values[startOf(operation)!]!;
        return { title, status, code, detail: detail.replace(id, "…") };
      }),
    );
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]!.status).toBe(404);
  },
);

test("a HEAD has the callers of the GET beside it", () => {
  for (const [key, { callers }] of operations.filter(([key]) => key.startsWith("HEAD "))) {
    expect(callers).toEqual(ADMIN_OPERATIONS[key.replace("HEAD", "GET") as OperationKey].callers);
  }
});

test("an operation that requires a role says where, by its path or by `roleIn`, and not twice", () => {
  expect(() => scopeOf("/everything", undefined)).toThrow("needs either");
  expect(() => scopeOf("/environmentsx/:environment", undefined)).toThrow("needs either");
  expect(() => scopeOf("/environments/:environment/videos", "any environment")).toThrow("needs either");
});

test("editors may change videos, and nothing else", () => {
  expect(changesFor("editor")).toEqual([
    "POST /transcriptions/:id/reprocess",
    "POST /transcriptions/:id/cancel",
    "POST /environments/:environment/videos",
    "DELETE /environments/:environment/videos/:video",
    "POST /environments/:environment/videos/:video/reprocess",
    "POST /environments/:environment/videos/:video/cancel",
    "POST /environments/:environment/videos/:video/transcribe-as-new",
    "PUT /environments/:environment/videos/:video/words",
    "POST /environments/:environment/videos/:video/revisions/:revision/restore",
    "POST /environments/:environment/bulk-operations",
    "POST /environments/:environment/bulk-operations/:operation/cancel",
    "POST /environments/:environment/downloads",
  ]);
  // Prepares a download, which changes no video.
  expect(changesFor("viewer")).toEqual(["POST /environments/:environment/downloads"]);
});

test("editors read neither API keys nor webhooks, settings or operators; viewers read all but the audit log", () => {
  const hidden = (role: OperatorRole) =>
    operations
      .filter(
        ([key, { callers }]) => key.startsWith("GET ") && Array.isArray(callers) && !callers.includes(role),
      )
      .map(([key]) => key);
  expect(hidden("editor")).toEqual([
    "GET /operators",
    "GET /invitations",
    "GET /audit",
    "GET /audit/operators",
    "GET /environments/:environment/retention-effect",
    "GET /environments/:environment/api-keys",
    "GET /environments/:environment/webhook-endpoints",
    "GET /webhook-endpoints/:id",
    "GET /webhook-endpoints/:id/deliveries",
    "GET /webhook-endpoints/:id/deliveries/:delivery",
  ]);
  expect(hidden("viewer")).toEqual(["GET /audit", "GET /audit/operators"]);
});

test("operators, the audit log, the system and new environments are for operators with a role in all environments", () => {
  const keys = operations.filter(([, { roleIn }]) => roleIn === "all environments").map(([key]) => key);
  expect(keys).toEqual([
    "GET /operators",
    "PATCH /operators/:id",
    "DELETE /operators/:id",
    "GET /invitations",
    "POST /invitations",
    "DELETE /invitations/:id",
    "GET /audit",
    "GET /audit/operators",
    "POST /environments",
    "GET /system",
    "GET /doctor",
    "POST /file-check",
  ]);
});

test("without a role, operators change only their own account", () => {
  const open = operations.filter(
    ([key, { callers }]) => !/^(GET|HEAD) /.test(key) && (callers === "anyone" || callers === "session"),
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
  const routes = listRoutes(subtext.service.parts.app).filter(({ path }) => path.startsWith("/internal"));
  const keys = routes
    .filter(({ method }) => method !== "HEAD")
    .map(({ method, path }) => `${method} ${path.slice("/internal".length)}`);
  const expected = operations.map(([key]) => key).filter((key) => !key.startsWith("HEAD "));
  expect(keys.sort()).toEqual(expected.sort());
});

function changesFor(role: OperatorRole): OperationKey[] {
  return operations
    .filter(
      ([key, { callers }]) => !/^(GET|HEAD) /.test(key) && Array.isArray(callers) && callers.includes(role),
    )
    .map(([key]) => key);
}
