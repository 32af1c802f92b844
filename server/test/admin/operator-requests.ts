import type { LightMyRequestResponse } from "fastify";
import { type AccessRequest, resolveAccess } from "../../src/operators/access.ts";
import type { Credentials } from "../../src/operators/operators.ts";
import type { TestService } from "../support/service.ts";

export interface OperatorRequest {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: object;
  headers?: Record<string, string>;
  /** The address that the request comes from. */
  from?: string;
}

/** Sends a request to the operator API without signing in. */
export async function send(
  { service }: TestService,
  path: string,
  { method = "GET", body, headers = {}, from = "127.0.0.1" }: OperatorRequest = {},
): Promise<LightMyRequestResponse> {
  return await service.parts.app.inject({
    method,
    url: `/internal${path}`,
    headers,
    remoteAddress: from,
    ...(body && { payload: body }),
  });
}

/** Sends a request with the command line's token. */
export async function sendAsCommandLine(
  test: TestService,
  path: string,
  request: OperatorRequest = {},
): Promise<LightMyRequestResponse> {
  const authorization = `Bearer ${test.service.parts.commandLineToken}`;
  return await send(test, path, { ...request, headers: { ...request.headers, authorization } });
}

/** The first operator, created like on the setup page; once for each service. */
export async function setUp(test: TestService, email = "owner@subtext.example"): Promise<Credentials> {
  const { operators } = test.service.parts;
  const token = await operators.newSetupToken();
  const password = `password of ${email}`;
  return await operators.setUp(token ?? "", { name: "Olive Owner", email, password }, async () => {});
}

/** A viewer, created like on an invitation's page. */
export async function addViewer(
  test: Pick<TestService, "service">,
  email = "viewer@subtext.example",
): Promise<Credentials> {
  return await addOperator(test, { name: "Vera Viewer", email, role: "viewer" });
}

/** An operator, created like on an invitation's page. */
export async function addOperator(
  { service }: Pick<TestService, "service">,
  { name = "Oda Operator", email, ...access }: AccessRequest & { name?: string; email: string },
): Promise<Credentials> {
  const request = { name, password: `password of ${email}` };
  return await service.parts.operators.join(request, async (tx) => ({
    email,
    ...(await resolveAccess(tx, access)),
  }));
}

/** Sends a request like the page of a browser. */
export async function signIn(
  test: TestService,
  credentials: Credentials,
  { from = "127.0.0.1", origin = test.url } = {},
): Promise<LightMyRequestResponse> {
  return await send(test, "/auth/sign-in/email", {
    method: "POST",
    body: credentials,
    headers: { origin },
    from,
  });
}

/** The Cookie header that a browser sends after that response. */
export function cookieOf(response: LightMyRequestResponse): string {
  return response.cookies.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join("; ");
}

export function codeOf(response: LightMyRequestResponse): [number, string] {
  return [response.statusCode, response.json<{ code: string }>().code];
}
