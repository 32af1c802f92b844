import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startChromium } from "../../captions/test/chromium.ts";
import { changeEnvironment } from "../../server/src/environments/environments.ts";
import { createTenant, shareService, type Tenant } from "../../server/test/support/service.ts";
import { buildPackage } from "../build/build.ts";

const service = shareService();

/**
 * An integrator's site: a page that uses the published client, and a backend that holds the key and forwards the page's
 * requests. The page sends the bytes of videos directly to the service.
 */
async function startSite(tenant: Tenant, page: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "subtext-client-"));
  buildPackage(folder);
  const server = createServer(async (request, response) => {
    const { method = "GET", url = "/", headers } = request;
    if (url === "/") {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
    } else if (/^\/client\/[\w./-]+\.js$/.test(url)) {
      response.writeHead(200, { "content-type": "text/javascript" });
      response.end(await readFile(join(folder, url.replace("/client/", ""))));
    } else if (url.startsWith("/api/v1/videos")) {
      const passed = await fetch(service.url + url, {
        method,
        headers: {
          authorization: `Bearer ${tenant.key}`,
          ...(method === "POST" && {
            "content-type": "application/json",
            "idempotency-key": String(headers["idempotency-key"]),
          }),
        },
        ...(method === "POST" && { body: await buffer(request) }),
      });
      const retryAfter = passed.headers.get("retry-after");
      response.writeHead(passed.status, {
        "content-type": passed.headers.get("content-type") ?? "",
        ...(retryAfter !== null && { "retry-after": retryAfter }),
      });
      response.end(await passed.text());
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await rm(folder, { recursive: true, force: true });
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

const PAGE = `<!doctype html><title>Upload</title><input type="file"><script type="module">
import { Subtext, verifyWebhook } from "/client/index.js";
const subtext = new Subtext({ baseUrl: location.origin, apiKey: null });
window.verifyWebhook = verifyWebhook;
window.transcribe = async () => {
  const [file] = document.querySelector("input").files;
  const progress = [];
  const { videoId } = await subtext.videos.upload(file, {
    maxChunkBytes: 500_000,
    onProgress: ({ sentBytes, totalBytes }) => progress.push(sentBytes / totalBytes),
  });
  const { status } = await subtext.transcriptions.wait(videoId, { waitTimeoutMs: 50_000 });
  const words = await subtext.transcriptions.words(videoId);
  const { filename } = await subtext.videos.get(videoId);
  return { status, filename, progress, first: words[0].word, count: words.length };
};
window.isReady = true;
</script>`;

async function openPage(tenant: Tenant) {
  const site = await startSite(tenant, PAGE);
  const browser = await startChromium();
  onTestFinished(() => browser.close());
  const tab = await browser.newPage();
  const requests: { method: string; url: string }[] = [];
  tab.on("request", (request) => requests.push({ method: request.method(), url: request.url() }));
  await tab.goto(site);
  await tab.waitForFunction("window.isReady");
  await tab.setInputFiles("input", join(import.meta.dirname, "../../demo/sample/sample.mp4"));
  return { site, tab, requests };
}

const allow = ({ environmentId }: Tenant, origin: string) =>
  changeEnvironment(service.service.parts.database.kysely, environmentId, { allowedOrigins: [origin] });

test("a page of another origin uploads a file, waits for the transcription and reads the words with the built client", async () => {
  const tenant = await createTenant(service);
  const { site, tab, requests } = await openPage(tenant);
  await allow(tenant, site);
  const result = (await tab.evaluate("window.transcribe()")) as Record<string, unknown> & {
    progress: number[];
  };
  expect(result).toMatchObject({ status: "COMPLETED", filename: "sample.mp4", count: expect.any(Number) });
  expect(result.progress[0]).toBe(0);
  expect(result.progress.at(-1)).toBe(1);
  expect(result.progress.length).toBeGreaterThan(1);
  const chunks = requests.filter(({ method }) => method === "PATCH");
  expect(chunks.length).toBe(result.progress.length - 1);
  for (const { url } of chunks) expect(url.startsWith(`${service.url}/api/v1/uploads/`)).toBe(true);
});

test("a page whose origin is not allowed gets an error with its code", async () => {
  const tenant = await createTenant(service);
  await allow(tenant, "https://elsewhere.example");
  const { tab } = await openPage(tenant);
  const code = await tab.evaluate("window.transcribe().catch(({ code }) => code)");
  expect(code).toBe("origin_not_allowed");
});

test("a webhook is verified with the browser's Web Crypto API", async () => {
  const { tab } = await openPage(await createTenant(service));
  const verified = await tab.evaluate(`(async () => {
    const secret = "whsec_" + btoa("k".repeat(32));
    const timestamp = String(Math.floor(Date.now() / 1000));
    const body = '{"type":"webhooks.endpoint.test"}';
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const bytes = (text) => new TextEncoder().encode(text);
    const key = await crypto.subtle.importKey("raw", bytes("k".repeat(32)), hmac, false, ["sign"]);
    const mac = await crypto.subtle.sign("HMAC", key, bytes("event_1." + timestamp + "." + body));
    const signature = "v1," + btoa(String.fromCharCode(...new Uint8Array(mac)));
    const headers = { "webhook-id": "event_1", "webhook-timestamp": timestamp, "webhook-signature": signature };
    const request = (text) => new Request("/", { method: "POST", headers, body: text });
    return [
      (await verifyWebhook(request(body), secret)).event.type,
      await verifyWebhook(request(body + " "), secret).catch(({ code }) => code),
    ];
  })()`);
  expect(verified).toEqual(["webhooks.endpoint.test", "webhook_signature_invalid"]);
});
