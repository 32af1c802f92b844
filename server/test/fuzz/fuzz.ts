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

/** Requests that are on their way at the same time. */
const TOGETHER = 3;

/**
 * Settings of a service that is to be fuzzed: no rate in the way, and uploads that no disk is too small for, yet
 * as large as the description's own examples.
 */
export const FUZZ_ENV = {
  RATE_LIMIT_BURST: "1000000",
  RATE_LIMIT_PER_SECOND: "1000000",
  MAX_UPLOAD_BYTES: "20000000",
  LOG_LEVEL: "error",
};

export interface FuzzReport {
  requests: number;
  /** Answers of each status. */
  statuses: Record<string, number>;
  /** By operation: how often it was asked for, and how often it succeeded. */
  operations: Record<string, { asked: number; succeeded: number }>;
  /** Connections that were closed before an answer, as where a refused body was still being sent. */
  cut: number;
  p99Ms: number;
  slowestMs: number;
  slowest: string;
}

/**
 * Sends requests that come from the service's own description, right and wrong. Throws, with an example of each
 * kind, where an answer was one that must not be: a 5xx, one off its schema, one that shows or changes what is
 * another environment's, or that grants what the key does not.
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
    note(new Error(`rows of an environment that never asked were changed: ${changed ?? "some are gone"}`));
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

/** What holds for every answer, whatever was asked. */
function checkAnswer(fuzzed: FuzzRequest, concrete: Concrete, answer: Answer, tenants: Tenants): void {
  const { status, headers, body } = answer;
  const fail = (what: string): never => {
    const sent = Buffer.from(concrete.body ?? "").toString();
    throw new Error(
      `${what}: ${fuzzed.operationId}, ${status}\n${concrete.method} ${concrete.target}\n${concrete.headers.map((header) => header.join(": ")).join("\n")}\n${sent.slice(0, 500)}\nanswered ${status} ${body.slice(0, 500)}`,
    );
  };
  if (status >= 500) fail("a fault of the service");
  if (!headers["x-request-id"] && headers.connection !== "close") fail("an answer without a request id");
  if (status >= 400 && fuzzed.method !== "HEAD") {
    if (!headers["content-type"]?.startsWith("application/problem+json"))
      fail("a refusal that is no problem");
    const problem: unknown = JSON.parse(body);
    if (!Value.Check(Problem, problem)) fail("a problem off its schema");
    const { code } = problem as Problem;
    if (API_ERRORS[code as keyof typeof API_ERRORS]?.status !== status)
      fail("a code that is not of its status");
  }
  for (const tenant of [...tenants.askers, tenants.bystander]) {
    if (tenant === tenants.askers[fuzzed.asker]) continue;
    const { environmentId, mark } = tenant;
    if (body.includes(environmentId) || body.includes(mark)) fail("something of another environment");
  }
  if (status < 300 && fuzzed.method !== "OPTIONS" && fuzzed.pathTrick === null) judgeSuccess(fuzzed, fail);
}

function judgeSuccess(fuzzed: FuzzRequest, fail: (what: string) => never): void {
  const { key, ids, operationId, method, path } = fuzzed;
  const references = Object.values(ids);
  if (references.some(({ of }) => of !== "asker")) fail("a success with what is not the asker's");
  if (operationId === "getFile") {
    if (!isSigned(fuzzed)) fail("a file without a signature");
    return;
  }
  if (isSigned(fuzzed)) return;
  const operation = ALL_OPERATIONS.find(
    (candidate) => candidate.path === path && candidate.method === (method === "HEAD" ? "GET" : method),
  );
  const permission = operation?.permission ?? key;
  if (["expired", "revoked", "broken", "missing"].includes(key)) fail("a success without a key that holds");
  if (key !== "all" && key !== permission) fail("a success without the permission");
}
