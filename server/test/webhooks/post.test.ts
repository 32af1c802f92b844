import { execFile } from "node:child_process";
import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { createEndpointPolicy } from "../../src/webhooks/guard-url.ts";
import { closeAfterTest, post, untilDisconnected } from "../support/webhook-posts.ts";
import { startRawReceiver, startReceiver } from "../support/webhook-receivers.ts";

const run = promisify(execFile);

describe("a received webhook", () => {
  it("is a POST of exactly the body with its headers and a user agent", async () => {
    const receiver = closeAfterTest(
      await startReceiver((_request, response) => response.writeHead(204).end()),
    );
    const body = '{"text":"¿Qué? 日本"}';
    const outcome = await post(receiver.url, { body, headers: { "webhook-id": "event_1", "x-own": "1" } });
    expect(outcome).toEqual({
      kind: "response",
      status: 204,
      latencyMs: expect.any(Number),
      retryAfterMs: null,
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
    await untilDisconnected(receiver);
  });

  it("reports any status and the response body", async () => {
    for (const status of [200, 202, 299, 301, 400, 404, 410, 500, 503, 599]) {
      const receiver = closeAfterTest(
        await startReceiver((_request, response) => response.writeHead(status).end("why")),
      );
      expect(await post(receiver.url)).toMatchObject({ kind: "response", status, bodyStart: "why" });
    }
  });

  it("reports Retry-After in seconds or as a date", async () => {
    const clock = { now: () => new Date("2026-03-04T05:06:07.000Z") };
    for (const [header, milliseconds] of [
      ["120", 120_000],
      ["Wed, 04 Mar 2026 05:07:07 GMT", 60_000],
      ["soon", null],
    ] as const) {
      const receiver = closeAfterTest(
        await startReceiver((_request, response) => response.writeHead(429, { "retry-after": header }).end()),
      );
      expect(await post(receiver.url, { clock })).toMatchObject({ status: 429, retryAfterMs: milliseconds });
    }
  });

  it("does not follow redirects, even to an allowed address", async () => {
    const canary = closeAfterTest(await startReceiver((_request, response) => response.end()));
    for (const status of [301, 302, 303, 307, 308]) {
      const receiver = closeAfterTest(
        await startReceiver((_request, response) =>
          response.writeHead(status, { location: canary.url.href }).end(),
        ),
      );
      expect(await post(receiver.url)).toMatchObject({ kind: "response", status });
    }
    expect(canary.connections).toBe(0);
  });

  it("succeeds if the response arrives before the timeout", async () => {
    const receiver = closeAfterTest(
      await startReceiver((_request, response) => setTimeout(() => response.writeHead(200).end("late"), 500)),
    );
    expect(await post(receiver.url, { timeoutMs: 10_000 })).toMatchObject({ status: 200, bodyStart: "late" });
  });

  it("succeeds if the response arrived in time but the event loop was blocked", async () => {
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
    closeAfterTest({ close: async () => void (await receiver.terminate()) });
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

  it("succeeds if the receiver responds and disconnects without reading the whole body", async () => {
    const receiver = closeAfterTest(
      await startRawReceiver((socket) => {
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
      }),
    );
    expect(await post(receiver.url, { body: "x".repeat(3_000_000) })).toMatchObject({ status: 200 });
  });

  it("is received over IPv6", async (context) => {
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    if (!addresses.some(({ address }) => address === "::1")) context.skip("this machine has no IPv6");
    const receiver = closeAfterTest(await startReceiver((_request, response) => response.end("six"), "::1"));
    const policy = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["::1/128"] });
    expect(await post(receiver.url, { policy })).toMatchObject({ status: 200, bodyStart: "six" });
    expect(await post(receiver.url)).toMatchObject({ kind: "failed", reason: "refused_address" });
  });
});

describe("the response to a webhook", () => {
  const bodyOf = async (...chunks: (string | Buffer)[]) => {
    const receiver = closeAfterTest(
      await startReceiver((_request, response) => {
        for (const chunk of chunks) response.write(chunk);
        response.end();
      }),
    );
    const outcome = await post(receiver.url);
    return outcome.kind === "response" ? outcome.bodyStart : outcome;
  };

  it("is stored up to 1024 bytes, without a partial character", async () => {
    expect(await bodyOf("a".repeat(1024))).toBe("a".repeat(1024));
    expect(await bodyOf("a".repeat(5000))).toBe("a".repeat(1024));
    expect(await bodyOf(`${"a".repeat(1023)}é`)).toBe("a".repeat(1023));
    expect(await bodyOf("é".repeat(300), "é".repeat(300))).toBe("é".repeat(512));
  });

  it("can be stored as text, regardless of its bytes", async () => {
    expect(await bodyOf("a\0b\x1b[31m\nc\td")).toBe("a\uFFFDb\uFFFD[31m\nc\td");
    const random = await bodyOf(Buffer.from(Array.from({ length: 1000 }, (_, index) => (index * 7) % 256)));
    expect(random).toMatch(/^[\P{Cc}\t\n\r]+$/u);
  });

  it("is read no further than needed if it never ends", async () => {
    let sent = 0;
    const receiver = closeAfterTest(
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
    await untilDisconnected(receiver);
    expect(sent).toBeLessThan(5e7);
  });

  it("keeps its status if its body is cut off or too slow", async () => {
    const cut = closeAfterTest(
      await startRawReceiver((socket) => {
        socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this");
      }),
    );
    expect(await post(cut.url)).toMatchObject({ kind: "response", status: 200, bodyStart: "only this" });

    const drip = closeAfterTest(
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
    await untilDisconnected(drip);
  });
});

describe("a webhook that fails", () => {
  const failure = async (listener: Parameters<typeof startRawReceiver>[0], timeoutMs = 20_000) => {
    const receiver = closeAfterTest(await startRawReceiver(listener));
    const outcome = await post(receiver.url, { timeoutMs });
    await untilDisconnected(receiver);
    return outcome.kind === "failed" ? outcome.reason : outcome;
  };

  it("reports a timeout if nothing or only single bytes arrive", async () => {
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

  it("reports a timeout if the name is never resolved", async () => {
    const outcome = await post("http://receiver.example/", {
      resolve: () => new Promise(() => {}),
      timeoutMs: 200,
    });
    expect(outcome).toMatchObject({ kind: "failed", reason: "timeout" });
  });

  it("reports that the receiver disconnected", async () => {
    expect(await failure((socket) => socket.destroy())).toBe("connection");
    expect(await failure((socket) => socket.once("data", () => socket.resetAndDestroy()))).toBe("connection");
    expect(await failure((socket) => socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nx: ")))).toBe(
      "connection",
    );
  });

  it("reports a refused connection", async () => {
    const receiver = await startRawReceiver(() => {});
    await receiver.close();
    const outcome = await post(receiver.url);
    expect(outcome).toMatchObject({ kind: "failed", reason: "connection", message: /ECONNREFUSED/ });
  });

  it("reports a response that is not HTTP", async () => {
    expect(await failure((socket) => socket.once("data", () => socket.write("SSH-2.0-OpenSSH_9\r\n")))).toBe(
      "protocol",
    );
    const garbage = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 31) % 256));
    expect(await failure((socket) => socket.once("data", () => socket.write(garbage)))).toBe("protocol");
  });

  it("reads at most 16 KiB of headers", async () => {
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

  it("reports that the name does not resolve", async () => {
    const resolve = async () => {
      throw Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    };
    expect(await post("http://receiver.example/", { resolve })).toMatchObject({
      kind: "failed",
      reason: "dns",
      message: "receiver.example could not be resolved (ENOTFOUND)",
    });
  });

  it("does not count as sent if the receiver requests another protocol", async () => {
    const upgrade = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
    expect(await failure((socket) => socket.once("data", () => socket.write(upgrade)))).toMatch(
      /^(connection|protocol)$/,
    );
  });
});

describe("a service that shuts down", () => {
  it("aborts an attempt in any phase and throws the reason of the signal", async () => {
    const reason = new Error("stopping");
    const phases = {
      resolving: { resolve: () => new Promise<never>(() => {}), url: "http://receiver.example/" },
      waiting: { url: closeAfterTest(await startRawReceiver(() => {})).url },
      reading: {
        url: closeAfterTest(
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
    const canary = closeAfterTest(await startRawReceiver(() => {}));
    await expect(post(canary.url, { signal: stopped })).rejects.toBe(reason);
    expect(canary.connections).toBe(0);
  });

  it("leaves nothing behind that keeps the process alive", async () => {
    const receiver = closeAfterTest(await startReceiver((_request, response) => response.end("ok")));
    const source = new URL("../../src/webhooks/", import.meta.url).href;
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
