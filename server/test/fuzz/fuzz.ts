import { Agent } from "node:http";
import { API_ERRORS } from "@subtext/client/contract/api-errors";
import { ALL_OPERATIONS } from "@subtext/client/contract/openapi";
import { Problem } from "@subtext/client/contract/problem";
import fc from "fast-check";
import { Value } from "typebox/value";
import type { ContractTap } from "../support/contract-tap.ts";
import { anyRequest, type FuzzRequest, type OpenApi } from "./requests.ts";
import { type Answer, type Concrete, isSigned, makeConcrete, send, type Tenants } from "./send.ts";
import { type FuzzService, harvest, makeFuzzTenant, rowsOf } from "./world.ts";

/** Concurrent requests. */
const TOGETHER = 3;

/**
 * Settings of a service to fuzz: no rate limit in the way, and an upload limit that fits on any disk but allows
 * the description's own examples.
 */
export const FUZZ_ENV = {
  RATE_LIMIT_BURST: "1000000",
  RATE_LIMIT_PER_SECOND: "1000000",
  MAX_UPLOAD_BYTES: "20000000",
  LOG_LEVEL: "error",
};

export interface FuzzReport {
  requests: number;
  /** Responses by status. */
  statuses: Record<string, number>;
  /** By operation: how often it was requested, and how often it succeeded. */
  operations: Record<string, { asked: number; succeeded: number }>;
  /** Connections closed before a response, for example while a rejected body was still being sent. */
  cut: number;
  p99Ms: number;
  slowestMs: number;
  slowest: string;
}

/**
 * Sends valid and invalid requests that are generated from the service's own description. Throws, with an example of
 * each kind, if a response is a 5xx, violates its schema, shows or changes data of another environment, or grants
 * more than the key allows.
 */
export async function fuzz(
  service: FuzzService & { tap: ContractTap },
  { requests, seed }: { requests: number; seed: number },
): Promise<FuzzReport> {
  const { db, url, tap } = service;
  const api = (await (await fetch(`${url}/api/openapi.json`)).json()) as OpenApi;
  const tenants: Tenants = {
    askers: [await makeFuzzTenant(service, `One ${seed}`), await makeFuzzTenant(service, `Other ${seed}`)],
    bystander: await makeFuzzTenant(service, `Bystander ${seed}`),
  };
  const before = await rowsOf(db, tenants.bystander);
  const report: FuzzReport = {
    requests: 0,
    statuses: {},
    operations: {},
    cut: 0,
    p99Ms: 0,
    slowestMs: 0,
    slowest: "",
  };
  const times: number[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: TOGETHER });
  const port = Number(new URL(url).port);

  const one = async (fuzzed: FuzzRequest): Promise<void> => {
    const concrete = makeConcrete(fuzzed, tenants);
    const answer = await send(port, agent, concrete);
    report.requests += 1;
    const counted = report.operations[fuzzed.operationId] ?? { asked: 0, succeeded: 0 };
    report.operations[fuzzed.operationId] = counted;
    counted.asked += 1;
    if (!answer) {
      report.cut += 1;
      return;
    }
    const { status, elapsedMs } = answer;
    report.statuses[status] = (report.statuses[status] ?? 0) + 1;
    times.push(elapsedMs);
    if (elapsedMs > report.slowestMs) {
      report.slowestMs = elapsedMs;
      report.slowest = `${concrete.method} ${concrete.target.slice(0, 200)} ${status}`;
    }
    checkAnswer(fuzzed, concrete, answer, tenants);
    if (status >= 300) return;
    if (fuzzed.method !== "OPTIONS") counted.succeeded += 1;
    if (fuzzed.operationId !== "getFile") harvest(tenants.askers[fuzzed.asker].pool, answer.body);
  };

  const faults = new Map<string, string>();
  const note = (fault: unknown) => {
    const { message } = fault as Error;
    const [what = ""] = message.split("\n");
    if (!faults.has(what)) faults.set(what, message);
  };
  const groups = fc.array(anyRequest(api), { minLength: TOGETHER, maxLength: TOGETHER });
  for (const together of fc.sample(groups, { numRuns: Math.ceil(requests / TOGETHER), seed })) {
    await Promise.all(together.map((fuzzed) => one(fuzzed).catch(note)));
    try {
      tap.verify();
    } catch (fault) {
      note(
        new Error((fault as Error).message.replaceAll(/(\w)_[0-9a-z]{26}\b/g, "$1_…").replace(":\n", ": ")),
      );
    }
  }
  agent.destroy();
  const after = await rowsOf(db, tenants.bystander);
  const changed = after.find((row, place) => row !== before[place]);
  if (changed !== undefined || after.length !== before.length) {
    note(
      new Error(`rows of an environment that sent no requests were changed: ${changed ?? "some are gone"}`),
    );
  }
  if (faults.size > 0) {
    throw new Error(
      `${faults.size} kinds of fault, by seed ${seed}:\n\n${[...faults.values()].join("\n\n")}`,
    );
  }
  times.sort((a, b) => a - b);
  report.p99Ms = times[Math.floor(times.length * 0.99)] ?? 0;
  return report;
}

/** Invariants of every response, whatever was requested. */
function checkAnswer(fuzzed: FuzzRequest, concrete: Concrete, answer: Answer, tenants: Tenants): void {
  const { status, headers, body } = answer;
  const fail = (what: string): never => {
    const sent = Buffer.from(concrete.body ?? "").toString();
    throw new Error(
      `${what}: ${fuzzed.operationId}, ${status}\n${concrete.method} ${concrete.target}\n${concrete.headers.map((header) => header.join(": ")).join("\n")}\n${sent.slice(0, 500)}\nanswered ${status} ${body.slice(0, 500)}`,
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
  for (const tenant of [...tenants.askers, tenants.bystander]) {
    if (tenant === tenants.askers[fuzzed.asker]) continue;
    const { environmentId, mark } = tenant;
    if (body.includes(environmentId) || body.includes(mark)) fail("data of another environment");
  }
  if (status < 300 && fuzzed.method !== "OPTIONS" && fuzzed.pathTrick === null) checkSuccess(fuzzed, fail);
}

function checkSuccess(fuzzed: FuzzRequest, fail: (what: string) => never): void {
  const { key, ids, operationId, method, path } = fuzzed;
  const references = Object.values(ids);
  if (references.some(({ of }) => of !== "asker")) fail("a success with a thing that is not the asker's");
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
