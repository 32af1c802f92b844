import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { EVENTS } from "@subtext/client/contract/examples";
import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { freePort, until } from "../../server/test/support/service.ts";
import { POST } from "../nextjs-route/route.ts";

const EXAMPLES = join(import.meta.dirname, "..");
const DEBIAN_PYTHON = "/usr/bin/python3";
const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, ok").toString("base64")}`;

interface Receiver {
  port: number;
  /** Returns the output so far: one transcript per line. */
  printed(): string;
  errors(): string;
}

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function startProgram(command: string, program: string, secret: string | undefined): Promise<Receiver> {
  const port = await freePort();
  const { SUBTEXT_WEBHOOK_SECRET: _none, ...env } = process.env;
  const child = spawn(command, [join(EXAMPLES, program)], {
    env: { ...env, PORT: String(port), ...(secret !== undefined && { SUBTEXT_WEBHOOK_SECRET: secret }) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill());
  let [printed, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (printed += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  await until(async () => printed.includes("\n"));
  printed = "";
  return { port, printed: () => printed, errors: () => errors };
}

/** Stands in for Next.js: passes a `Request` to the route handler and sends its `Response`. */
async function startRoute(secret: string | undefined): Promise<Receiver> {
  vi.stubEnv("SUBTEXT_WEBHOOK_SECRET", secret);
  let [printed, errors] = ["", ""];
  vi.spyOn(console, "log").mockImplementation((line) => (printed += `${line}\n`));
  vi.spyOn(console, "error").mockImplementation((...parts) => (errors += parts.join(" ")));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  const port = await listen(async (incoming, outgoing) => {
    const headers = new Headers(incoming.headers as Record<string, string>);
    const body = await buffer(incoming).catch(() => null);
    // The connection was closed before the body was complete.
    if (body === null) return;
    const response = await POST(new Request("http://localhost/", { method: "POST", headers, body }));
    outgoing.writeHead(response.status).end();
  });
  return { port, printed: () => printed, errors: () => errors };
}

const node = (program: string) => (secret?: string) => startProgram(process.execPath, program, secret);
const RECEIVERS: [string, (secret?: string) => Promise<Receiver>][] = [
  ["Express", node("express/receiver.ts")],
  ["Fastify", node("fastify/receiver.ts")],
  ["a Next.js route", startRoute],
  ["Python", (secret) => startProgram("python3", "python/receiver_standard_library.py", secret)],
  // Debian installs Django for its own Python, even if another one comes first in the path.
  ["Django", (secret) => startProgram(DEBIAN_PYTHON, "python/receiver_django.py", secret)],
  ["Rails", (secret) => startProgram("ruby", "rails/receiver.rb", secret)],
];

/** Sends a signed event with this transcript URL. Returns the response status. */
async function send({ port }: Receiver, id: string, fileUrl: string, sentAt = new Date()): Promise<number> {
  const event = structuredClone(EVENTS["transcriptions.transcription.completed"]);
  event.data.files.txt.url = fileUrl;
  const body = JSON.stringify(event);
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(sentAt.getTime() / 1000)),
    "webhook-signature": new Webhook(SECRET).sign(id, sentAt, body),
  };
  const url = `http://127.0.0.1:${port}/webhooks/subtext`;
  return (await fetch(url, { method: "POST", headers, body })).status;
}

const newId = () => `event_${randomUUID()}`;
/** A command that fails if the receiver cannot run, and what to install. */
const NEEDS: Record<string, { command: string; args: string[]; install: string }> = {
  Python: { command: "python3", args: ["--version"], install: "python3" },
  Django: { command: DEBIAN_PYTHON, args: ["-c", "import django"], install: "python3-django" },
  Rails: {
    command: "ruby",
    args: ["-e", 'require "action_controller/railtie"; require "puma"'],
    install: "ruby-railties and puma",
  },
};
const missing = new Map(
  Object.entries(NEEDS)
    .filter(([, { command, args }]) => spawnSync(command, args).status !== 0)
    .map(([name, { install }]) => [name, install]),
);

describe.each(RECEIVERS)("the receiver in %s", (name, start) => {
  beforeEach(({ skip }) => skip(missing.has(name), `${missing.get(name)} is not installed`));

  test("responds before it fetches the transcript, and handles an event only once if a duplicate arrives meanwhile", async () => {
    const waiting: (() => void)[] = [];
    const port = await listen((_request, response) => waiting.push(() => response.end("the transcript")));
    const receiver = await start(SECRET);
    const [id, url] = [newId(), `http://127.0.0.1:${port}/`];
    expect(await Promise.all([send(receiver, id, url), send(receiver, id, url)])).toEqual([204, 204]);
    expect(receiver.printed()).toBe("");
    await until(async () => waiting.length > 0);
    expect(await send(receiver, id, url)).toBe(204);
    for (const respond of waiting) respond();
    await until(async () => receiver.printed() !== "");
    expect(await send(receiver, newId(), `${url}next`)).toBe(204);
    await until(async () => waiting.length === 2);
    expect(receiver.printed().match(/the transcript/g)).toHaveLength(1);
  });

  test("does not treat an error page as a transcript, and handles the event when it is redelivered", async () => {
    const port = await listen(({ url }, response) =>
      response
        .writeHead(url === "/expired" ? 403 : 200)
        .end(url === "/expired" ? "<h1>Expired</h1>" : "words"),
    );
    const receiver = await start(SECRET);
    const id = newId();
    expect(await send(receiver, id, `http://127.0.0.1:${port}/expired`)).toBe(204);
    await until(async () => receiver.errors().includes("403"));
    expect(receiver.printed()).toBe("");
    await until(async () => {
      await send(receiver, id, `http://127.0.0.1:${port}/fresh`);
      return receiver.printed().includes("words");
    });
  });

  test("refuses an event that is replayed after the tolerance, and accepts its retry", async () => {
    const port = await listen((_request, response) => response.end("words"));
    const receiver = await start(SECRET);
    const [id, url] = [newId(), `http://127.0.0.1:${port}/`];
    expect(await send(receiver, id, url, new Date(Date.now() - 600_000))).toBe(400);
    expect(await send(receiver, id, url)).toBe(204);
    await until(async () => receiver.printed().includes("words"));
  });

  test("responds with 500 if the secret is missing", async () => {
    for (const secret of [undefined, ""]) {
      const receiver = await start(secret);
      expect(await send(receiver, newId(), "http://127.0.0.1:9/")).toBe(500);
      await until(async () => /secret/i.test(receiver.errors()));
    }
  });

  test("accepts webhooks while another connection is idle", async () => {
    const port = await listen((_request, response) => response.end("words"));
    const receiver = await start(SECRET);
    const silent = connect(receiver.port, "127.0.0.1");
    onTestFinished(() => void silent.destroy());
    await once(silent, "connect");
    silent.write("POST /webhooks/subtext HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
    expect(await send(receiver, newId(), `http://127.0.0.1:${port}/`)).toBe(204);
    await until(async () => receiver.printed().includes("words"));
  });
});
