import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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

interface Told {
  videoId: string;
  language: string;
  text: string;
}

/** Uploads and waits with plain fetch, as its own process. */
async function transcribe({ key }: Tenant): Promise<Told & { status: string }> {
  const { stdout } = await run(process.execPath, [join(EXAMPLES, "fetch/transcribe.ts"), SAMPLE], {
    env: { ...process.env, SUBTEXT_URL: service.url, SUBTEXT_API_KEY: key },
  });
  return JSON.parse(stdout);
}

/** The lines that a program prints, as JSON, one after the other. */
function linesOf(child: ChildProcess): () => Promise<Record<string, unknown>> {
  let errors = "";
  child.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the example ended: ${errors}`);
    return JSON.parse(value);
  };
}

async function startReceiver(command: string, args: string[], port: number, secret: string) {
  const child = spawn(command, args, {
    env: { ...process.env, PORT: String(port), SUBTEXT_WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill());
  const next = linesOf(child);
  expect(await next()).toHaveProperty("listening.port", port);
  return next;
}

async function subscribe(tenant: Tenant, port: number) {
  const { webhookEndpoints } = new Subtext({ baseUrl: service.url, apiKey: tenant.key });
  const url = `http://127.0.0.1:${port}/webhooks/subtext`;
  const { secret } = await webhookEndpoints.create({ url });
  return { url, secret };
}

/** What anybody could send. */
async function forge(url: string): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "webhook-id": "event_1",
    "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
    "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  };
  return (await fetch(url, { method: "POST", headers, body: "{}" })).status;
}

const isImported = (module: string) =>
  run("python3", ["-c", `import ${module}`]).then(
    () => true,
    () => false,
  );

describe("an example", () => {
  const receivers: { name: string; command: string; program: string; needs?: string }[] = [
    { name: "Express", command: process.execPath, program: "express/receiver.ts" },
    { name: "Fastify", command: process.execPath, program: "fastify/receiver.ts" },
    {
      name: "Python's standard library",
      command: "python3",
      program: "python/receiver_standard_library.py",
      needs: "hmac",
    },
    {
      name: "Python and the Standard Webhooks library",
      command: "python3",
      program: "python/receiver.py",
      needs: "standardwebhooks",
    },
  ];
  test.for(receivers)("with $name takes a real delivery, and no forged one", async (receiver, { skip }) => {
    const { command, program, needs } = receiver;
    if (needs !== undefined && !(await isImported(needs))) skip(`${command} has no ${needs}`);
    const tenant = await createTenant(service);
    const port = await freePort();
    const { url, secret } = await subscribe(tenant, port);
    const next = await startReceiver(command, [join(EXAMPLES, program)], port, secret);
    expect(await forge(url)).toBe(400);
    const read = await transcribe(tenant);
    expect(read).toMatchObject({ status: "COMPLETED", language: "en" });
    const { status: _status, ...told } = read;
    expect(await next()).toEqual(told);
  });

  test("with a route handler of Next.js takes a real delivery, and no forged one", async () => {
    const tenant = await createTenant(service);
    const lines: string[] = [];
    vi.spyOn(console, "log").mockImplementation((line) => lines.push(line));
    onTestFinished(() => void vi.restoreAllMocks());
    const { promise: answered, resolve } = Promise.withResolvers<number>();
    // In place of Next.js: gives the handler a Request and sends its Response.
    const server = createServer(async (incoming, outgoing) => {
      const headers = new Headers(incoming.headers as Record<string, string>);
      const body = await buffer(incoming);
      const response = await POST(new Request("http://localhost/", { method: "POST", headers, body }));
      outgoing.writeHead(response.status).end();
      if (response.ok) resolve(response.status);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void server.close());
    const { url, secret } = await subscribe(tenant, (server.address() as AddressInfo).port);
    vi.stubEnv("SUBTEXT_WEBHOOK_SECRET", secret);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await forge(url)).toBe(400);
    const { status: _status, ...told } = await transcribe(tenant);
    expect(await answered).toBe(204);
    expect(lines.map((line) => JSON.parse(line))).toEqual([told]);
  });
});
