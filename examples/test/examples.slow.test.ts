import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { Subtext } from "@subtext/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createTenant, freePort, shareService, type Tenant } from "../../server/test/support/service.ts";
import { POST } from "../nextjs-route/route.ts";

const run = promisify(execFile);
const EXAMPLES = join(import.meta.dirname, "..");
const SAMPLE = join(EXAMPLES, "../demo/sample/sample.mp4");

const service = shareService();

interface Transcript {
  videoId: string;
  language: string;
  text: string;
}

/** Runs the plain-fetch example, which uploads a video and waits for its transcription. */
async function transcribe({ key }: Tenant): Promise<Transcript & { status: string }> {
  const { stdout } = await run(process.execPath, [join(EXAMPLES, "fetch/transcribe.ts"), SAMPLE], {
    env: { ...process.env, SUBTEXT_URL: service.url, SUBTEXT_API_KEY: key },
  });
  return JSON.parse(stdout);
}

/** Parses each line of a program's output as JSON. */
function linesOf(child: ChildProcess): () => Promise<Record<string, unknown>> {
  let errors = "";
  child.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the example exited: ${errors}`);
    return JSON.parse(value);
  };
}

interface Receiver {
  url: string;
  /** Returns the next printed line. */
  next(): Promise<Record<string, unknown>>;
}

async function startProgram(command: string, program: string, port: number, secret: string) {
  const child = spawn(command, [join(EXAMPLES, program)], {
    env: { ...process.env, PORT: String(port), SUBTEXT_WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill());
  const next = linesOf(child);
  expect(await next()).toHaveProperty("listening.port", port);
  return next;
}

/** Stands in for Next.js: passes a `Request` to the route handler and sends its `Response`. */
async function startRoute(port: number, secret: string) {
  vi.stubEnv("SUBTEXT_WEBHOOK_SECRET", secret);
  const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
  vi.spyOn(console, "log").mockImplementation((line) => resolve(JSON.parse(line)));
  const server = createServer(async (incoming, outgoing) => {
    const headers = new Headers(incoming.headers as Record<string, string>);
    const body = await buffer(incoming);
    const response = await POST(new Request("http://localhost/", { method: "POST", headers, body }));
    outgoing.writeHead(response.status).end();
  });
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  onTestFinished(() => {
    server.close();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  return () => promise;
}

/** Creates a webhook endpoint for the tenant and starts its receiver. */
async function subscribe(
  tenant: Tenant,
  start: (port: number, secret: string) => Promise<Receiver["next"]>,
): Promise<Receiver> {
  const { webhookEndpoints } = new Subtext({ baseUrl: service.url, apiKey: tenant.key });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/webhooks/subtext`;
  const { secret } = await webhookEndpoints.create({ url });
  return { url, next: await start(port, secret) };
}

/** Sends a webhook with an invalid signature. */
async function forge(url: string): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "webhook-id": "event_1",
    "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
    "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  };
  return (await fetch(url, { method: "POST", headers, body: "{}" })).status;
}

/** Expects each receiver to reject a forged webhook, and to print the same transcript as the plain-fetch example. */
async function expectDelivered(tenant: Tenant, receivers: Receiver[]): Promise<void> {
  for (const { url } of receivers) expect(await forge(url)).toBe(400);
  const { status, ...transcript } = await transcribe(tenant);
  expect([status, transcript.language]).toEqual(["COMPLETED", "en"]);
  for (const { next } of receivers) expect(await next()).toEqual(transcript);
}

/** Whether the language of the program has what the program needs. */
const isInstalled = (command: string, needs: string) =>
  run(command, command === "ruby" ? ["-e", `require "${needs}"`] : ["-c", `import ${needs}`]).then(
    () => true,
    () => false,
  );

describe("the examples", () => {
  test("with Express, Fastify and a Next.js route accept a real delivery and reject a forged one", async () => {
    const tenant = await createTenant(service);
    const inNode = (program: string) =>
      subscribe(tenant, (...listen) => startProgram(process.execPath, program, ...listen));
    await expectDelivered(tenant, [
      await inNode("express/receiver.ts"),
      await inNode("fastify/receiver.ts"),
      await subscribe(tenant, startRoute),
    ]);
  });

  test.for([
    ["Python with hmac", "python3", "hmac", "python/receiver_standard_library.py"],
    ["Python with standardwebhooks", "python3", "standardwebhooks", "python/receiver.py"],
    // Debian installs Django for its own Python, even if another one comes first in the path.
    ["Django", "/usr/bin/python3", "django", "python/receiver_django.py"],
    ["Rails", "ruby", "action_controller/railtie", "rails/receiver.rb"],
  ] as const)(
    "in %s accept a real delivery and reject a forged one",
    async ([name, command, needs, program], { skip }) => {
      if (!(await isInstalled(command, needs))) skip(`${name} is not installed`);
      const tenant = await createTenant(service);
      const start = (port: number, secret: string) => startProgram(command, program, port, secret);
      await expectDelivered(tenant, [await subscribe(tenant, start)]);
    },
  );
});
