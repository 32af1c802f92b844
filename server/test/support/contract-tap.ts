import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { API_ERRORS } from "@subtext/client/contract/api-errors";
import { ALL_OPERATIONS } from "@subtext/client/contract/openapi";
import { errorCodesOf, type Operation } from "@subtext/client/contract/operation";
import { Problem } from "@subtext/client/contract/problem";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";

/** Codes of responses that belong to no operation. */
const ROUTING_ERRORS = ["route_not_found", "method_not_allowed"];

interface ObservedResponse {
  status: number;
  contentType: string;
  body: Buffer;
}

/**
 * Observes all responses of a server and checks their statuses, bodies and error codes against the contract.
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
        const body = Buffer.concat(chunks);
        this.#check(request, { status: response.statusCode, contentType, body });
      });
    });
  }

  /** Throws if a response violated the contract, and clears the violations. */
  verify(): void {
    const found = this.#violations.splice(0);
    if (found.length > 0)
      throw new Error(`responses that violate the contract:\n${[...new Set(found)].join("\n")}`);
  }

  #check(request: IncomingMessage, observed: ObservedResponse): void {
    const { method = "", url = "" } = request;
    const path = url.replace(/\?.*$/s, "");
    const operation = operationOf(method, path);
    if (!operation) return;
    const { status: statusCode, contentType, body } = observed;
    const report = (what: string) => {
      this.#violations.push(`${method} ${path} ${statusCode}: ${what} ${body.toString().slice(0, 400)}`);
    };
    if (statusCode < 400) {
      const violation = findViolation(operation, observed);
      if (violation) report(violation);
      return;
    }
    if (!contentType.startsWith("application/problem+json")) {
      if (body.length > 0 || method !== "HEAD") report("is not a problem document");
      return;
    }
    if (method === "HEAD") return;
    const problem: unknown = JSON.parse(body.toString());
    if (!Value.Check(Problem, problem)) {
      report("violates the schema of problem documents");
      return;
    }
    const { code, status } = problem;
    if (status !== statusCode) report("has a different status in its body");
    if (ROUTING_ERRORS.includes(code)) return;
    const documented: string[] = errorCodesOf(operation);
    if (!documented.includes(code)) report(`has a code that ${operation.id} does not document`);
    else if (API_ERRORS[code as keyof typeof API_ERRORS].status !== statusCode)
      report("has a status that does not belong to its code");
  }
}

function findViolation(operation: Operation, observed: ObservedResponse): string | null {
  const { success, group } = operation;
  const { status, contentType, body } = observed;
  // Files also respond with 206 and 304, which have their own tests.
  if (group === "Files")
    return status === 200 && operation.method !== "HEAD" ? findFileViolation(operation, observed) : null;
  if (status !== success.status) return `is not the documented ${success.status}`;
  if (success.body === null || operation.method === "HEAD") return body.length > 0 ? "has a body" : null;
  if (!contentType.startsWith("application/json")) return "is not JSON";
  return findSchemaViolation(success.body, JSON.parse(body.toString()));
}

function findFileViolation({ success }: Operation, { contentType, body }: ObservedResponse): string | null {
  const [type = ""] = contentType.split(";");
  const schema = success.files?.[type];
  if (!schema) return `has the undocumented content type ${type}`;
  const content = body.toString();
  return findSchemaViolation(schema, type === "application/json" ? JSON.parse(content) : content);
}

function findSchemaViolation(schema: TSchema, value: unknown): string | null {
  if (Value.Check(schema, value)) return null;
  const [first] = Value.Errors(schema, value);
  return `violates its schema at ${first?.instancePath}: ${first?.message}`;
}

function operationOf(method: string, path: string): Operation | undefined {
  // Responses to HEAD requests for GET operations have no body to check.
  if (method === "HEAD" && !path.startsWith("/api/v1/uploads/")) return undefined;
  return ALL_OPERATIONS.find((operation) => operation.method === method && patternOf(operation).test(path));
}

function patternOf({ path, group }: Operation): RegExp {
  const variable = group === "Files" ? ".+" : "[^/]+";
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, variable)}$`);
}
