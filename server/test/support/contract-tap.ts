import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { API_ERRORS } from "@subtext/client/contract/api-errors";
import { ALL_OPERATIONS } from "@subtext/client/contract/openapi";
import { errorCodesOf, type Operation } from "@subtext/client/contract/operation";
import { Problem } from "@subtext/client/contract/problem";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";

/** A response for an unknown path belongs to no operation. */
const OF_NO_OPERATION = ["route_not_found", "method_not_allowed"];

interface Answer {
  status: number;
  contentType: string;
  body: Buffer;
}

/**
 * Observes every response of a server and checks it against the contract: statuses and bodies of every
 * operation, and the codes that it documents.
 */
export class ContractTap {
  readonly #violations: string[] = [];

  listen(server: Server): void {
    server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      const keep = (chunk: unknown) => {
        if (typeof chunk === "string" || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
      };
      let contentType = "";
      const writeHead = response.writeHead.bind(response);
      response.writeHead = ((status: number, headers: Record<string, unknown>, ...rest: never[]) => {
        contentType = String(headers?.["content-type"] ?? response.getHeader("content-type") ?? "");
        return writeHead(status, headers as never, ...rest);
      }) as ServerResponse["writeHead"];
      const write = response.write.bind(response);
      const end = response.end.bind(response);
      response.write = ((chunk: unknown, ...rest: never[]) => {
        keep(chunk);
        return write(chunk as string, ...rest);
      }) as ServerResponse["write"];
      response.end = ((chunk: unknown, ...rest: never[]) => {
        keep(chunk);
        return end(chunk as string, ...rest);
      }) as ServerResponse["end"];
      response.on("finish", () => {
        const answer = { status: response.statusCode, contentType, body: Buffer.concat(chunks) };
        this.#checkAnswer(request, answer);
      });
    });
  }

  /** Throws if a response violated the contract, and clears the violations. */
  verify(): void {
    const found = this.#violations.splice(0);
    if (found.length > 0)
      throw new Error(`responses that violate the contract:\n${[...new Set(found)].join("\n")}`);
  }

  #checkAnswer(request: IncomingMessage, answer: Answer): void {
    const { method = "", url = "" } = request;
    const path = url.replace(/\?.*$/s, "");
    const operation = operationOf(method, path);
    if (!operation) return;
    const { status: statusCode, contentType, body } = answer;
    const say = (what: string) => {
      this.#violations.push(`${method} ${path} ${statusCode}: ${what} ${body.toString().slice(0, 400)}`);
    };
    if (statusCode < 400) {
      const fault = faultOf(operation, answer);
      if (fault) say(fault);
      return;
    }
    if (!contentType.startsWith("application/problem+json")) {
      if (body.length > 0 || method !== "HEAD") say("is no problem document");
      return;
    }
    if (method === "HEAD") return;
    const problem: unknown = JSON.parse(body.toString());
    if (!Value.Check(Problem, problem)) {
      say("violates the schema of problems");
      return;
    }
    const { code, status } = problem;
    if (status !== statusCode) say("has another status in its body");
    if (OF_NO_OPERATION.includes(code)) return;
    const documented: string[] = errorCodesOf(operation);
    if (!documented.includes(code)) say(`has a code that ${operation.id} does not document`);
    else if (API_ERRORS[code as keyof typeof API_ERRORS].status !== statusCode)
      say("has the status of another code");
  }
}

function faultOf(operation: Operation, answer: Answer): string | null {
  const { success, group } = operation;
  const { status, contentType, body } = answer;
  // Files also respond with 206 and 304, which have their own tests.
  if (group === "Files")
    return status === 200 && operation.method !== "HEAD" ? fileFaultOf(operation, answer) : null;
  if (status !== success.status) return `is not the documented ${success.status}`;
  if (success.body === null || operation.method === "HEAD") return body.length > 0 ? "has a body" : null;
  if (!contentType.startsWith("application/json")) return "is not JSON";
  return describeFault(success.body, JSON.parse(body.toString()));
}

function fileFaultOf({ success }: Operation, { contentType, body }: Answer): string | null {
  const [type = ""] = contentType.split(";");
  const schema = success.files?.[type];
  if (!schema) return `is of the type ${type}`;
  return describeFault(schema, type === "application/json" ? JSON.parse(body.toString()) : body.toString());
}

/** Describes how a value violates its schema; null if it is valid. */
function describeFault(schema: TSchema, value: unknown): string | null {
  if (Value.Check(schema, value)) return null;
  const [first] = Value.Errors(schema, value);
  return `violates its schema at ${first?.instancePath}: ${first?.message}`;
}

function operationOf(method: string, path: string): Operation | undefined {
  const of = method === "HEAD" && !path.startsWith("/api/v1/uploads/") ? "GET" : method;
  const fits = ALL_OPERATIONS.filter(
    (operation) => operation.method === of && patternOf(operation).test(path),
  );
  // HEAD on a GET operation has the same headers.
  return of === method ? fits[0] : undefined;
}

function patternOf({ path, group }: Operation): RegExp {
  const variable = group === "Files" ? ".+" : "[^/]+";
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, variable)}$`);
}
