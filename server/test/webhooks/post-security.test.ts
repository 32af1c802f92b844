import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { createEndpointPolicy } from "../../src/webhooks/guard-url.ts";
import {
  closeAfterTest,
  fakeResolver,
  post,
  strictPolicy,
  untilDisconnected,
} from "../support/webhook-posts.ts";
import { startRawReceiver, startReceiver } from "../support/webhook-receivers.ts";

const run = promisify(execFile);

describe("a webhook over TLS", () => {
  it("fails if the receiver does not support TLS or never completes the handshake", async () => {
    const plain = closeAfterTest(await startReceiver((_request, response) => response.end()));
    expect(await post(`https://127.0.0.1:${plain.port}/`)).toMatchObject({ kind: "failed", reason: "tls" });
    const silent = closeAfterTest(await startRawReceiver(() => {}));
    const outcome = await post(`https://127.0.0.1:${silent.port}/`, { timeoutMs: 300 });
    expect(outcome).toMatchObject({ kind: "failed", reason: "timeout" });
    await untilDisconnected(silent);
    const closing = closeAfterTest(await startRawReceiver((socket) => socket.destroy()));
    expect(await post(`https://127.0.0.1:${closing.port}/`)).toMatchObject({ reason: "connection" });
  });

  it("is sent only if the certificate is valid for the host name", async (context) => {
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
      response.end("over TLS");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closeAfterTest({ close: async () => void server.close() });
    const { port } = server.address() as AddressInfo;
    const { resolve } = fakeResolver(["127.0.0.1"]);
    const send = (host: string) => post(`https://${host}:${port}/`, { resolve });

    expect(await send("receiver.example")).toMatchObject({ kind: "failed", reason: "tls" });
    const trusted = getCACertificates("default");
    setDefaultCACertificates([...trusted, certificate]);
    try {
      expect(await send("receiver.example")).toMatchObject({ status: 200, bodyStart: "over TLS" });
      expect(await send("other.example")).toMatchObject({ kind: "failed", reason: "tls" });
    } finally {
      setDefaultCACertificates(trusted);
      await rm(folder, { recursive: true });
    }
    expect(received).toBe(1);
  });
});

describe("a webhook to an internal address", () => {
  const canaryOn = async (host: string) =>
    closeAfterTest(await startReceiver((_request, response) => response.end("inside"), host));

  it("is refused for every spelling of a literal address", async () => {
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
      const outcome = await post(`http://${host}:${canary.port}/`, { policy: strictPolicy });
      // Some machines cannot resolve "localhost.", which is just as safe.
      expect([host, outcome]).toEqual([
        host,
        expect.objectContaining({ kind: "failed", reason: expect.stringMatching(/^(refused_address|dns)$/) }),
      ]);
    }
    expect(canary.connections).toBe(0);
  });

  it("is refused for a name that resolves to it", async () => {
    const canary = await canaryOn("127.0.0.1");
    for (const answer of [["127.0.0.1"], ["::ffff:127.0.0.1"], ["127.0.0.1", "::1"], ["not an address"]]) {
      const { resolve } = fakeResolver(answer);
      const outcome = await post(`http://inside.example:${canary.port}/`, { policy: strictPolicy, resolve });
      expect(outcome).toMatchObject({ kind: "failed", reason: "refused_address" });
    }
    expect(canary.connections).toBe(0);
  });

  it("is refused after DNS rebinding, because the checked address is the one connected to", async (context) => {
    if (process.platform !== "linux") context.skip("only Linux accepts connections on all of 127.0.0.0/8");
    const policy = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["127.0.0.2/32"] });
    const allowed = closeAfterTest(
      await startReceiver((_request, response) => response.end("outside"), "127.0.0.2"),
    );
    const canary = await canaryOn("127.0.0.1");
    // The same port on both addresses, so that only the address decides which receiver is reached.
    const rebinding = fakeResolver(["127.0.0.2"], ["127.0.0.1"]);
    const url = `http://rebinding.example:${allowed.port}/`;
    expect(await post(url, { policy, resolve: rebinding.resolve })).toMatchObject({ bodyStart: "outside" });
    expect(rebinding.callCount()).toBe(1);
    const inside = `http://rebinding.example:${canary.port}/`;
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const outcome = await post(inside, { policy, resolve: rebinding.resolve });
      expect(outcome).toMatchObject({ kind: "failed", reason: "refused_address" });
    }
    expect(rebinding.callCount()).toBe(4);
    expect([allowed.connections, canary.connections]).toEqual([1, 0]);
  });

  it("is refused for a name that also resolves to an allowed address", async (context) => {
    if (process.platform !== "linux") context.skip("only Linux accepts connections on all of 127.0.0.0/8");
    const policy = createEndpointPolicy({ allowHttp: true, allowPrivateNetworks: ["127.0.0.2/32"] });
    const canary = await canaryOn("127.0.0.1");
    for (const answer of [
      ["127.0.0.1", "127.0.0.2"],
      ["127.0.0.2", "127.0.0.1"],
    ]) {
      // The allowed address refuses connections on this port, so a naive client would try the other address.
      const { resolve } = fakeResolver(answer);
      const outcome = await post(`http://both.example:${canary.port}/`, { policy, resolve });
      expect(outcome).toMatchObject({ kind: "failed", reason: "connection" });
    }
    expect(canary.connections).toBe(0);
  });

  it("is not sent through the proxy of the environment", async () => {
    const proxy = await canaryOn("127.0.0.1");
    const receiver = closeAfterTest(await startReceiver((_request, response) => response.end("direct")));
    vi.stubEnv("http_proxy", `http://127.0.0.1:${proxy.port}`);
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    expect(await post(receiver.url)).toMatchObject({ bodyStart: "direct" });
    vi.unstubAllEnvs();
    expect(proxy.connections).toBe(0);
  });
});
