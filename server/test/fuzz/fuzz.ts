import { Agent } from "node:http";
import { API_ERRORS } from "@subtext/client/contract/api-errors";
import { ALL_OPERATIONS } from "@subtext/client/contract/openapi";
import { Problem } from "@subtext/client/contract/problem";
import fc from "fast-check";
import { Value } from "typebox/value";
import type { ContractTap } from "../support/contract-tap.ts";
import { anyRequest, type FuzzRequest, type OpenApi } from "./requests.ts";
import { buildRequest, type HttpRequest, type HttpResponse, isSigned, send, type Tenants } from "./send.ts";
import { collectIds, type FuzzService, makeFuzzTenant, readRows } from "./tenants.ts";

const CONCURRENCY = 3;

/** Raises the rate limits, and limits uploads to a size that fits on any disk but allows the examples in OpenAPI. */
export const FUZZ_ENV = {
  RATE_LIMIT_BURST: "1000000",
  RATE_LIMIT_PER_SECOND: "1000000",
  MAX_UPLOAD_BYTES: "20000000",
  LOG_LEVEL: "error",
};

export interface FuzzReport {
  requests: number;
  /** Number of responses, keyed by status. */
  statuses: Record<string, number>;
  /** Keyed by operation id. */
  operations: Record<string, { requests: number; successes: number }>;
  /** Connections that closed without a response, for example while a rejected body was being sent. */
  withoutResponse: number;
  p99Ms: number;
  slowestMs: number;
  slowest: string;
}

/**
 * Sends valid and invalid requests that are generated from the service's OpenAPI document. Throws an error with an
 * example of each kind if a response is a 5xx, violates its schema, exposes or changes data of another environment, or
 * exceeds the permissions of its key.
 */
export async function fuzz(
  service: FuzzService & { tap: ContractTap },
  { requests, seed }: { requests: number; seed: number },
): Promise<FuzzReport> {
  const { db, url, tap } = service;
  const api = (await (await fetch(`${url}/api/openapi.json`)).json()) as OpenApi;
  const tenants: Tenants = {
    active: [await makeFuzzTenant(service, `One ${seed}`), await makeFuzzTenant(service, `Other ${seed}`)],
    passive: await makeFuzzTenant(service, `Passive ${seed}`),
  };
  const before = await readRows(db, tenants.passive);
  const report: FuzzReport = {
    requests: 0,
    statuses: {},
    operations: {},
    withoutResponse: 0,
    p99Ms: 0,
    slowestMs: 0,
    slowest: "",
  };
  const times: number[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const port = Number(new URL(url).port);

  const sendAndCheck = async (fuzzed: FuzzRequest): Promise<void> => {
    const request = buildRequest(fuzzed, tenants);
    const response = await send(port, agent, request);
    report.requests += 1;
    const counts = report.operations[fuzzed.operationId] ?? { requests: 0, successes: 0 };
    report.operations[fuzzed.operationId] = counts;
    counts.requests += 1;
    if (!response) {
      report.withoutResponse += 1;
      return;
    }
    const { status, elapsedMs } = response;
    report.statuses[status] = (report.statuses[status] ?? 0) + 1;
    times.push(elapsedMs);
    if (elapsedMs > report.slowestMs) {
      report.slowestMs = elapsedMs;
      report.slowest = `${request.method} ${request.target.slice(0, 200)} ${status}`;
    }
    checkResponse(fuzzed, request, response, tenants);
    if (status >= 300) return;
    if (fuzzed.method !== "OPTIONS") counts.successes += 1;
    if (fuzzed.operationId !== "getFile") collectIds(tenants.active[fuzzed.sender].pool, response.body);
  };

  const failures = new Map<string, string>();
  const addFailure = (error: unknown) => {
    const { message } = error as Error;
    const [kind = ""] = message.split("\n");
    if (!failures.has(kind)) failures.set(kind, message);
  };
  const groups = fc.array(anyRequest(api), { minLength: CONCURRENCY, maxLength: CONCURRENCY });
  for (const group of fc.sample(groups, { numRuns: Math.ceil(requests / CONCURRENCY), seed })) {
    await Promise.all(group.map((fuzzed) => sendAndCheck(fuzzed).catch(addFailure)));
    try {
      tap.verify();
    } catch (error) {
      addFailure(
        new Error((error as Error).message.replaceAll(/(\w)_[0-9a-z]{26}\b/g, "$1_…").replace(":\n", ": ")),
      );
    }
  }
  agent.destroy();
  const after = await readRows(db, tenants.passive);
  const changed = after.find((row, index) => row !== before[index]);
  if (changed !== undefined || after.length !== before.length) {
    addFailure(
      new Error(
        `rows of an environment that sent no requests have changed: ${changed ?? "rows are missing"}`,
      ),
    );
  }
  if (failures.size > 0) {
    throw new Error(
      `${failures.size} kinds of failure with seed ${seed}:\n\n${[...failures.values()].join("\n\n")}`,
    );
  }
  times.sort((a, b) => a - b);
  report.p99Ms = times[Math.floor(times.length * 0.99)] ?? 0;
  return report;
}

/** Checks the invariants of all responses. */
function checkResponse(
  fuzzed: FuzzRequest,
  request: HttpRequest,
  response: HttpResponse,
  tenants: Tenants,
): void {
  const { status, headers, body } = response;
  const fail = (what: string): never => {
    const sent = Buffer.from(request.body ?? "").toString();
    const headerLines = request.headers.map((header) => header.join(": ")).join("\n");
    throw new Error(
      `${what}: ${fuzzed.operationId}, ${status}\n${request.method} ${request.target}\n${headerLines}\n${sent.slice(0, 500)}\nreturned ${status} ${body.slice(0, 500)}`,
    );
  };
  if (status >= 500) fail("a server error");
  if (!headers["x-request-id"] && headers.connection !== "close") fail("a response without a request id");
  if (status >= 400 && fuzzed.method !== "HEAD") {
    if (!headers["content-type"]?.startsWith("application/problem+json"))
      fail("an error that is not a problem document");
    const problem: unknown = JSON.parse(body);
    if (!Value.Check(Problem, problem)) fail("a problem that violates its schema");
    const { code } = problem as Problem;
    if (API_ERRORS[code as keyof typeof API_ERRORS]?.status !== status) fail("a code with the wrong status");
  }
  for (const tenant of [...tenants.active, tenants.passive]) {
    if (tenant === tenants.active[fuzzed.sender]) continue;
    const { environmentId, marker } = tenant;
    if (body.includes(environmentId) || body.includes(marker)) fail("data of another environment");
  }
  if (status < 300 && fuzzed.method !== "OPTIONS" && fuzzed.pathSuffix === null) checkSuccess(fuzzed, fail);
}

function checkSuccess(fuzzed: FuzzRequest, fail: (what: string) => never): void {
  const { key, ids, operationId, method, path } = fuzzed;
  const references = Object.values(ids);
  if (references.some(({ owner }) => owner !== "sender")) fail("a success with another tenant's resource");
  if (operationId === "getFile") {
    if (!isSigned(fuzzed)) fail("a file without a signature");
    return;
  }
  if (isSigned(fuzzed)) return;
  const operation = ALL_OPERATIONS.find(
    (candidate) => candidate.path === path && candidate.method === (method === "HEAD" ? "GET" : method),
  );
  const permission = operation?.permission ?? key;
  if (["expired", "revoked", "broken", "missing"].includes(key)) fail("a success without a valid key");
  if (key !== "all" && key !== permission) fail("a success without the permission");
}
