import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Problem } from "@subtext/client/contract/problem";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problemType, registerProblems, sendProblem } from "../../src/http/problems.ts";
import { APP_ERRORS, AppError, type AppErrorCode } from "../../src/lib/errors.ts";

describe("an error over HTTP", () => {
  let app: FastifyInstance;
  const logged: string[] = [];
  beforeAll(async () => {
    app = Fastify({
      frameworkErrors: sendProblem,
      bodyLimit: 100,
      genReqId: () => "request-1",
      logger: { stream: { write: (line) => void logged.push(line) } },
    });
    registerProblems(app);
    app.get("/throw/:code", async (request) => {
      const { code } = request.params as { code: AppErrorCode };
      throw new AppError(code, "What happened.", { headers: { "x-of-the-error": "1" } });
    });
    app.get("/bug", async (_request, reply) => {
      reply.headers({ etag: '"1"', "content-disposition": "inline", "x-kept": "1" });
      throw new Error("connect /var/lib/secret failed for SELECT password");
    });
    app.get("/odd", async () => {
      throw Object.assign(new Error("secret"), { statusCode: 404, code: "ENOENT" });
    });
    app.get("/text", async () => {
      throw "secret";
    });
    app.post("/videos/:id/parts", async () => ({}));
    app.put("/videos/:id/parts", async () => ({}));
    app.get("/videos/latest", async () => ({}));
    app.post(
      "/validated",
      { schema: { body: { type: "object", required: ["name"], properties: { name: { type: "string" } } } } },
      async () => ({}),
    );
    await app.listen({ port: 0, host: "127.0.0.1" });
  });
  afterAll(() => app.close());

  const problem = async (method: string, url: string, body?: string, type = "application/json") => {
    const headers = body === undefined ? {} : { "content-type": type };
    const response = await app.inject({
      method: method as "GET",
      url,
      headers,
      ...(body === undefined ? {} : { payload: body }),
    });
    expect(response.headers["content-type"]).toBe("application/problem+json");
    expect(response.headers["cache-control"]).toBe("no-store");
    const parsed = response.json<Problem>();
    expect(Object.keys(parsed)).toEqual(Object.keys(Problem.properties));
    expect(parsed).toMatchObject({ status: response.statusCode, requestId: "request-1" });
    return { problem: parsed, headers: response.headers };
  };

  const named = (Object.keys(APP_ERRORS) as AppErrorCode[]).filter((code) => APP_ERRORS[code].status !== 500);
  for (const code of named) {
    it(`with the name ${code} has its status, its title and the URL of its explanation`, async () => {
      const answer = await problem("GET", `/throw/${code}?token=hidden`);
      expect(answer.problem).toEqual({
        type: `/docs/errors#${code}`,
        title: APP_ERRORS[code].title,
        status: APP_ERRORS[code].status,
        detail: "What happened.",
        instance: `/throw/${code}`,
        code,
        requestId: "request-1",
      });
      expect(answer.headers["x-of-the-error"]).toBe("1");
    });
  }

  it("is explained at a URL of the service that responded", () => {
    const answered = "https://captions.example/api/v1/videos/video_1";
    expect(new URL(problemType("video_not_found"), answered).href).toBe(
      "https://captions.example/docs/errors#video_not_found",
    );
  });

  for (const url of ["/bug", "/odd", "/text", "/throw/query_outside_transaction"]) {
    it(`that is unexpected reveals no internals (${url}), and is logged in full`, async () => {
      logged.length = 0;
      const answer = await problem("GET", url);
      expect(answer.problem).toMatchObject({ code: "internal_error", status: 500 });
      expect(JSON.stringify(answer.problem)).not.toMatch(/secret|SELECT|happened/);
      const line = logged.find((candidate) => candidate.includes("request failed"));
      expect(line).toMatch(/secret|What happened/);
      expect(line).toContain('"reqId":"request-1"');
    });
  }

  it("drops headers that describe a body that is not sent", async () => {
    const { headers } = await problem("GET", "/bug");
    expect(headers.etag).toBeUndefined();
    expect(headers["content-disposition"]).toBeUndefined();
    expect(headers["x-kept"]).toBe("1");
  });

  it("names the invalid field of a request", async () => {
    const answer = await problem("POST", "/validated", "{}");
    expect(answer.problem).toMatchObject({ code: "invalid_request", status: 400 });
    expect(answer.problem.detail).toContain("name");
  });

  it("says that a body is not JSON, too large or of another type", async () => {
    expect((await problem("POST", "/validated", "{")).problem.code).toBe("invalid_request");
    expect((await problem("POST", "/validated", "")).problem.code).toBe("invalid_request");
    const large = JSON.stringify({ name: "x".repeat(200) });
    expect((await problem("POST", "/validated", large)).problem.code).toBe("payload_too_large");
    const xml = await problem("POST", "/validated", "<a/>", "application/xml");
    expect(xml.problem).toMatchObject({ code: "unsupported_media_type", status: 415 });
  });

  it("says that a path does not exist", async () => {
    for (const url of ["/", "/nothing?x=1", "/videos", "/videos//parts", "/videos/1/parts/2", "/bug/"]) {
      const answer = await problem("GET", url);
      expect(answer.problem).toMatchObject({ code: "route_not_found", instance: url.split("?")[0] });
    }
  });

  it("says which methods a path supports, if it supports others", async () => {
    const cases = [
      ["DELETE", "/bug", "GET, HEAD"],
      ["GET", "/videos/1/parts?x=1", "POST, PUT"],
      ["PATCH", "/videos/latest", "GET, HEAD"],
    ] as const;
    for (const [method, url, allow] of cases) {
      const answer = await problem(method, url);
      expect(answer.problem).toMatchObject({ code: "method_not_allowed", status: 405 });
      expect(answer.headers.allow).toBe(allow);
    }
  });

  it("has the same form if the path cannot be decoded", async () => {
    expect((await problem("GET", "/throw/%zz?a=1")).problem).toMatchObject({
      code: "invalid_request",
      instance: "/throw/%zz",
    });
    expect((await problem("GET", `/throw/${"a".repeat(2000)}`)).problem.status).toBeLessThan(500);
  });

  it("has no body in response to HEAD", async () => {
    const { port } = app.server.address() as { port: number };
    const socket = connect(port, "127.0.0.1");
    socket.end("HEAD /throw/video_not_found HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer.split("\r\n\r\n")[1]).toBe("");
  });
});

describe("an app with a page for every path", () => {
  it("still distinguishes an unknown path from a wrong method", async () => {
    const app = Fastify();
    registerProblems(app);
    app.get("/*", async () => "the page");
    app.get("/api/videos", async () => ({}));
    expect((await app.inject({ method: "POST", url: "/api/unknown" })).statusCode).toBe(404);
    expect((await app.inject({ method: "POST", url: "/api/videos" })).statusCode).toBe(405);
    await app.close();
  });

  it("uses the full paths of plugin routes", async () => {
    const app = Fastify();
    registerProblems(app);
    app.register(async (api) => void api.get("/:id", async () => ({})), { prefix: "/api/v1/videos" });
    app.register(async (api) => void api.all("/any", async () => ({})));
    const answer = await app.inject({ method: "DELETE", url: "/api/v1/videos/1" });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, "GET, HEAD"]);
    expect((await app.inject({ method: "DELETE", url: "/any" })).statusCode).toBe(200);
    await app.close();
  });
});
