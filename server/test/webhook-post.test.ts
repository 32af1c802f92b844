import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../src/lib/clock.ts";
import { createEndpointPolicy, type ResolveHost } from "../src/webhooks/guard-url.ts";
import { type AttemptOutcome, postWebhook, type WebhookPost } from "../src/webhooks/post.ts";
import { createHostResolver } from "../src/webhooks/resolve-host.ts";
import { type Receiver, startRawReceiver, startReceiver } from "./webhook-receivers.ts";

const run = promisify(execFile);
const strict = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: [] });
const demo = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["127.0.0.1/32"] });

const receivers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});
const keep = <R extends { close(): Promise<void> }>(receiver: R): R => {
  receivers.push(receiver);
  return receiver;
};

const post = (url: URL | string, options: Partial<WebhookPost> = {}): Promise<AttemptOutcome> =>
  postWebhook({
    url: new URL(url),
    headers: { "webhook-id": "event_1" },
    body: '{"type":"test"}',
    timeoutMs: 20_000,
    policy: demo,
    resolve: createHostResolver(),
    version: "1.2.3",
    clock: systemClock,
    signal: new AbortController().signal,
    ...options,
  });
/** A resolver that gives these answers in turn, and the last one for ever. */
const resolving = (...answers: string[][]) => {
  let asked = 0;
  const resolve: ResolveHost = async () => {
    const answer = answers[Math.min(asked, answers.length - 1)]!;
    asked += 1;
    return answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { resolve, asked: () => asked };
};
const leftAlone = (receiver: Receiver) =>
  vi.waitFor(() => expect(receiver.open.size).toBe(0), { timeout: 10_000 });

describe("a webhook that is received", () => {
  it("is a POST of exactly the body, with its headers and the name of its sender", async () => {
    const receiver = keep(await startReceiver((_request, response) => response.writeHead(204).end()));
    const body = '{"text":"¿Qué? 日本"}';
    const outcome = await post(receiver.url, { body, headers: { "webhook-id": "event_1", "x-own": "1" } });
    expect(outcome).toEqual({
      kind: "response",
      status: 204,
      latencyMs: expect.any(Number),
      retryAfterSeconds: null,
      bodyStart: "",
    });
    expect(receiver.requests).toEqual([
      {
        method: "POST",
        target: "/hooks?a=1",
        body,
        headers: expect.objectContaining({
          host: `127.0.0.1:${receiver.port}`,
          "content-type": "application/json",
          "content-length": String(Buffer.byteLength(body)),
          "user-agent": "Subtext/1.2.3 (webhook)",
          "webhook-id": "event_1",
          "x-own": "1",
        }),
      },
    ]);
    await leftAlone(receiver);
  });

  it("is answered with any status, and the answer is what is told", async () => {
    for (const status of [200, 202, 299, 301, 400, 404, 410, 500, 503, 599]) {
      const receiver = keep(
        await startReceiver((_request, response) => response.writeHead(status).end("why")),
      );
      expect(await post(receiver.url)).toMatchObject({ kind: "response", status, bodyStart: "why" });
    }
  });

  it("is told when to come again, in seconds or as a date", async () => {
    const clock = { now: () => new Date("2026-03-04T05:06:07.000Z") };
    for (const [header, seconds] of [
      ["120", 120],
      ["Wed, 04 Mar 2026 05:07:07 GMT", 60],
      ["soon", null],
    ] as const) {
      const receiver = keep(
        await startReceiver((_request, response) => response.writeHead(429, { "retry-after": header }).end()),
      );
      expect(await post(receiver.url, { clock })).toMatchObject({ status: 429, retryAfterSeconds: seconds });
    }
  });

  it("is not sent on where the receiver redirects, even to an allowed place", async () => {
    const canary = keep(await startReceiver((_request, response) => response.end()));
    for (const status of [301, 302, 303, 307, 308]) {
      const receiver = keep(
        await startReceiver((_request, response) =>
          response.writeHead(status, { location: canary.url.href }).end(),
        ),
      );
      expect(await post(receiver.url)).toMatchObject({ kind: "response", status });
    }
    expect(canary.connections).toBe(0);
  });

  it("counts as received when the answer comes before the time is up", async () => {
    const receiver = keep(
      await startReceiver((_request, response) => setTimeout(() => response.writeHead(200).end("late"), 500)),
    );
    expect(await post(receiver.url, { timeoutMs: 10_000 })).toMatchObject({ status: 200, bodyStart: "late" });
  });

  it("counts as received when the answer came in time to a process that was too busy to look", async () => {
    const timeoutMs = 2_000;
    const turns = new Int32Array(new SharedArrayBuffer(8));
    const [isAnswering, isAnswered] = [0, 1];
    const elsewhere = `
      const { parentPort, workerData: turns } = require("node:worker_threads");
      const server = require("node:http").createServer((request, response) => {
        request.resume().on("end", () => {
          parentPort.postMessage("received");
          Atomics.wait(turns, ${isAnswering}, 0);
          response.end("in time", () => {
            Atomics.store(turns, ${isAnswered}, 1);
            Atomics.notify(turns, ${isAnswered});
          });
        });
      });
      server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`;
    const receiver = new Worker(elsewhere, { eval: true, workerData: turns });
    keep({ close: async () => void (await receiver.terminate()) });
    const [port] = await once(receiver, "message");
    const outcome = post(`http://127.0.0.1:${port}/`, { timeoutMs });
    await once(receiver, "message");
    Atomics.store(turns, isAnswering, 1);
    Atomics.notify(turns, isAnswering);
    Atomics.wait(turns, isAnswered, 0);
    const busyUntil = performance.now() + timeoutMs;
    while (performance.now() < busyUntil);
    expect(await outcome).toMatchObject({ kind: "response", status: 200 });
  });

  it("counts as received when the receiver answers and breaks off without reading all of it", async () => {
    const receiver = keep(
      await startRawReceiver((socket) => {
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
      }),
    );
    expect(await post(receiver.url, { body: "x".repeat(3_000_000) })).toMatchObject({ status: 200 });
  });

  it("is received over IPv6", async (context) => {
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    if (!addresses.some(({ address }) => address === "::1")) context.skip("this machine has no IPv6");
    const receiver = keep(await startReceiver((_request, response) => response.end("six"), "::1"));
    const policy = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["::1/128"] });
    expect(await post(receiver.url, { policy })).toMatchObject({ status: 200, bodyStart: "six" });
    expect(await post(receiver.url)).toMatchObject({ kind: "failed", reason: "refused_address" });
  });
});

describe("the answer to a webhook", () => {
  const bodyOf = async (...chunks: (string | Buffer)[]) => {
    const receiver = keep(
      await startReceiver((_request, response) => {
        for (const chunk of chunks) response.write(chunk);
        response.end();
      }),
    );
    const outcome = await post(receiver.url);
    return outcome.kind === "response" ? outcome.bodyStart : outcome;
  };

  it("is kept up to 1024 bytes, never with half a character", async () => {
    expect(await bodyOf("a".repeat(1024))).toBe("a".repeat(1024));
    expect(await bodyOf("a".repeat(5000))).toBe("a".repeat(1024));
    expect(await bodyOf(`${"a".repeat(1023)}é`)).toBe("a".repeat(1023));
    expect(await bodyOf("é".repeat(300), "é".repeat(300))).toBe("é".repeat(512));
  });

  it("can be kept as text whatever bytes it has", async () => {
    expect(await bodyOf("a\0b\x1b[31m\nc\td")).toBe("a\uFFFDb\uFFFD[31m\nc\td");
    const random = await bodyOf(Buffer.from(Array.from({ length: 1000 }, (_, index) => (index * 7) % 256)));
    expect(random).toMatch(/^[\P{Cc}\t\n\r]+$/u);
  });

  it("is not read on where it never ends", async () => {
    let sent = 0;
    const receiver = keep(
      await startRawReceiver((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        const chunk = `10000\r\n${"a".repeat(0x10000)}\r\n`;
        const more = () => {
          while (!socket.destroyed && sent < 1e9 && socket.write(chunk)) sent += chunk.length;
        };
        socket.on("drain", more);
        more();
      }),
    );
    expect(await post(receiver.url)).toMatchObject({ status: 200, bodyStart: "a".repeat(1024) });
    await leftAlone(receiver);
    expect(sent).toBeLessThan(5e7);
  });

  it("keeps its status where its body is cut off or comes too slowly", async () => {
    const cut = keep(
      await startRawReceiver((socket) => {
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this");
      }),
    );
    expect(await post(cut.url)).toMatchObject({ kind: "response", status: 200, bodyStart: "only this" });

    const drip = keep(
      await startReceiver((_request, response) => {
        response.writeHead(500);
        const timer = setInterval(() => response.write("."), 20);
        response.on("close", () => clearInterval(timer));
      }),
    );
    expect(await post(drip.url, { timeoutMs: 400 })).toMatchObject({
      kind: "response",
      status: 500,
      bodyStart: expect.stringMatching(/^\.+$/),
    });
    await leftAlone(drip);
  });
});

describe("a webhook that fails", () => {
  const failure = async (listener: Parameters<typeof startRawReceiver>[0], timeoutMs = 20_000) => {
    const receiver = keep(await startRawReceiver(listener));
    const outcome = await post(receiver.url, { timeoutMs });
    await leftAlone(receiver);
    return outcome.kind === "failed" ? outcome.reason : outcome;
  };

  it("says that time is up where nothing, or only a byte now and then, comes back", async () => {
    expect(await failure(() => {}, 300)).toBe("timeout");
    const drip = `HTTP/1.1 200 OK\r\nx-slow: ${"a".repeat(10_000)}`;
    const dripping = failure((socket) => {
      let at = 0;
      const timer = setInterval(() => socket.write(drip[at++] ?? ""), 10);
      socket.on("close", () => clearInterval(timer));
    }, 400);
    expect(await dripping).toBe("timeout");
    const informing = failure((socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 10);
      socket.on("close", () => clearInterval(timer));
    }, 400);
    expect(await informing).toBe("timeout");
  });

  it("says that time is up where the name is never resolved", async () => {
    const outcome = await post("http://receiver.example/", {
      resolve: () => new Promise(() => {}),
      timeoutMs: 200,
    });
    expect(outcome).toMatchObject({ kind: "failed", reason: "timeout" });
  });

  it("says that the receiver broke off", async () => {
    expect(await failure((socket) => socket.destroy())).toBe("connection");
    expect(await failure((socket) => socket.once("data", () => socket.resetAndDestroy()))).toBe("connection");
    expect(await failure((socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nx: ")))).toBe(
      "connection",
    );
  });

  it("says that nobody listens", async () => {
    const receiver = await startRawReceiver(() => {});
    await receiver.close();
    const outcome = await post(receiver.url);
    expect(outcome).toMatchObject({ kind: "failed", reason: "connection", message: /ECONNREFUSED/ });
  });

  it("says that what came back is no HTTP", async () => {
    expect(await failure((socket) => socket.once("data", () => socket.write("SSH-2.0-OpenSSH_9\r\n")))).toBe(
      "protocol",
    );
    const garbage = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 31) % 256));
    expect(await failure((socket) => socket.once("data", () => socket.write(garbage)))).toBe("protocol");
  });

  it("reads no more than 16 KiB of headers", async () => {
    let sent = 0;
    const reason = await failure((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const line = `x-long: ${"a".repeat(8000)}\r\n`;
      const more = () => {
        while (!socket.destroyed && sent < 1e9 && socket.write(line)) sent += line.length;
      };
      socket.on("drain", more);
      more();
    });
    expect(reason).toBe("protocol");
    expect(sent).toBeLessThan(5e7);
  });

  it("says that the name does not resolve", async () => {
    const resolve = async () => {
      throw Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    };
    expect(await post("http://receiver.example/", { resolve })).toMatchObject({
      kind: "failed",
      reason: "dns",
      message: "receiver.example could not be resolved (ENOTFOUND)",
    });
  });

  it("is not taken for sent where the receiver wants to speak another protocol", async () => {
    const upgrade = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
    expect(await failure((socket) => socket.once("data", () => socket.write(upgrade)))).toMatch(
      /^(connection|protocol)$/,
    );
  });
});

describe("a webhook over TLS", () => {
  it("says that the receiver does not speak it, or never finishes its greeting", async () => {
    const plain = keep(await startReceiver((_request, response) => response.end()));
    expect(await post(`https://127.0.0.1:${plain.port}/`)).toMatchObject({ kind: "failed", reason: "tls" });
    const silent = keep(await startRawReceiver(() => {}));
    const outcome = await post(`https://127.0.0.1:${silent.port}/`, { timeoutMs: 300 });
    expect(outcome).toMatchObject({ kind: "failed", reason: "timeout" });
    await leftAlone(silent);
    const closing = keep(await startRawReceiver((socket) => socket.destroy()));
    expect(await post(`https://127.0.0.1:${closing.port}/`)).toMatchObject({ reason: "connection" });
  });

  it("is sent only to who can prove the name that was asked for", async (context) => {
    const folder = await mkdtemp(join(tmpdir(), "subtext-tls-"));
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const names = ["-subj", "/CN=receiver.example", "-addext", "subjectAltName=DNS:receiver.example"];
    const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    const made = await run("openssl", [
      "req",
      "-x509",
      ...newKey,
      "-keyout",
      key,
      "-out",
      cert,
      ...names,
    ]).then(
      () => true,
      () => false,
    );
    if (!made) context.skip("openssl is not installed");
    const certificate = await readFile(cert, "utf8");
    let received = 0;
    const server = createTlsServer({ key: await readFile(key), cert: certificate }, (_request, response) => {
      received += 1;
      response.end("secret kept");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    keep({ close: async () => void server.close() });
    const { port } = server.address() as AddressInfo;
    const { resolve } = resolving(["127.0.0.1"]);
    const send = (host: string) => post(`https://${host}:${port}/`, { resolve });

    expect(await send("receiver.example")).toMatchObject({ kind: "failed", reason: "tls" });
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, certificate]);
    try {
      expect(await send("receiver.example")).toMatchObject({ status: 200, bodyStart: "secret kept" });
      expect(await send("other.example")).toMatchObject({ kind: "failed", reason: "tls" });
    } finally {
      setDefaultCACertificates(trusted);
      await rm(folder, { recursive: true });
    }
    expect(received).toBe(1);
  });
});

describe("a webhook to a place inside", () => {
  const canaryOn = async (host: string) =>
    keep(await startReceiver((_request, response) => response.end("inside"), host));

  it("never gets there by any spelling of a literal address", async () => {
    const canary = await canaryOn("127.0.0.1");
    for (const host of [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "0",
      "localhost",
      "localhost.",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[::]",
      "[::127.0.0.1]",
      "[64:ff9b::127.0.0.1]",
    ]) {
      const outcome = await post(`http://${host}:${canary.port}/`, { policy: strict });
      // Some machines can not resolve "localhost.", which reaches nothing either.
      expect([host, outcome]).toEqual([
        host,
        expect.objectContaining({ kind: "failed", reason: expect.stringMatching(/^(refused_address|dns)$/) }),
      ]);
    }
    expect(canary.connections).toBe(0);
  });

  it("never gets there by a name that stands for it", async () => {
    const canary = await canaryOn("127.0.0.1");
    for (const answer of [["127.0.0.1"], ["::ffff:127.0.0.1"], ["127.0.0.1", "::1"], ["not an address"]]) {
      const { resolve } = resolving(answer);
      const outcome = await post(`http://inside.example:${canary.port}/`, { policy: strict, resolve });
      expect(outcome).toMatchObject({ kind: "failed", reason: "refused_address" });
    }
    expect(canary.connections).toBe(0);
  });

  it("never gets there by a name that changes its answer: what was judged is what is connected to", async (context) => {
    if (process.platform !== "linux") context.skip("only Linux answers on all of 127.0.0.0/8");
    const policy = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["127.0.0.2/32"] });
    const allowed = keep(await startReceiver((_request, response) => response.end("outside"), "127.0.0.2"));
    const canary = await canaryOn("127.0.0.1");
    // One port on both addresses, so that only the address decides who is reached.
    const rebinding = resolving(["127.0.0.2"], ["127.0.0.1"]);
    const url = `http://rebinding.example:${allowed.port}/`;
    expect(await post(url, { policy, resolve: rebinding.resolve })).toMatchObject({ bodyStart: "outside" });
    expect(rebinding.asked()).toBe(1);
    const inside = `http://rebinding.example:${canary.port}/`;
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const outcome = await post(inside, { policy, resolve: rebinding.resolve });
      expect(outcome).toMatchObject({ kind: "failed", reason: "refused_address" });
    }
    expect(rebinding.asked()).toBe(4);
    expect([allowed.connections, canary.connections]).toEqual([1, 0]);
  });

  it("never gets there by a name that stands for it besides an allowed place", async (context) => {
    if (process.platform !== "linux") context.skip("only Linux answers on all of 127.0.0.0/8");
    const policy = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["127.0.0.2/32"] });
    const canary = await canaryOn("127.0.0.1");
    for (const answer of [
      ["127.0.0.1", "127.0.0.2"],
      ["127.0.0.2", "127.0.0.1"],
    ]) {
      // Nobody listens at this port of the allowed one, so a sender would go on to the other.
      const { resolve } = resolving(answer);
      const outcome = await post(`http://both.example:${canary.port}/`, { policy, resolve });
      expect(outcome).toMatchObject({ kind: "failed", reason: "connection" });
    }
    expect(canary.connections).toBe(0);
  });

  it("never gets there by way of the environment's proxy", async () => {
    const proxy = await canaryOn("127.0.0.1");
    const receiver = keep(await startReceiver((_request, response) => response.end("direct")));
    vi.stubEnv("http_proxy", `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    expect(await post(receiver.url)).toMatchObject({ bodyStart: "direct" });
    vi.unstubAllEnvs();
    expect(proxy.connections).toBe(0);
  });
});

describe("a service that stops", () => {
  it("ends an attempt in any phase, and throws the reason it was given", async () => {
    const reason = new Error("stopping");
    const phases = {
      resolving: { resolve: () => new Promise<never>(() => {}), url: "http://receiver.example/" },
      waiting: { url: keep(await startRawReceiver(() => {})).url },
      reading: {
        url: keep(
          await startReceiver((_request, response) => {
            response.writeHead(200);
            response.write("begun");
          }),
        ).url,
      },
    };
    for (const { url, ...options } of Object.values(phases)) {
      const stopping = new AbortController();
      setTimeout(() => stopping.abort(reason), 150);
      await expect(post(url, { ...options, signal: stopping.signal })).rejects.toBe(reason);
    }
    const stopped = AbortSignal.abort(reason);
    const canary = keep(await startRawReceiver(() => {}));
    await expect(post(canary.url, { signal: stopped })).rejects.toBe(reason);
    expect(canary.connections).toBe(0);
  });

  it("leaves nothing behind that keeps its process alive", async () => {
    const receiver = keep(await startReceiver((_request, response) => response.end("ok")));
    const source = new URL("../src/webhooks/", import.meta.url).href;
    const script = `
      const { postWebhook } = await import(${JSON.stringify(`${source}post.ts`)});
      const { createEndpointPolicy } = await import(${JSON.stringify(`${source}guard-url.ts`)});
      const { createHostResolver } = await import(${JSON.stringify(`${source}resolve-host.ts`)});
      const policy = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["127.0.0.0/8"] });
      const outcome = await postWebhook({
        url: new URL(${JSON.stringify(receiver.url.href)}), headers: {}, body: "{}", timeoutMs: 3_600_000,
        policy, resolve: createHostResolver(), version: "1", clock: { now: () => new Date() },
        signal: new AbortController().signal });
      console.log(outcome.status);`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], {
      timeout: 30_000,
    });
    expect(stdout.trim()).toBe("200");
  });
});
