import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { rolldown } from "rolldown";
import { expect, onTestFinished, test } from "vitest";
import { startChromium } from "../../../captions/test/chromium.ts";
import { startCuttingProxy } from "../../../test/support/cutting-proxy.ts";
import { changeEnvironment } from "../../src/environments/environments.ts";
import { createTenant, shareService, temporaryFolder } from "../support/service.ts";
import { readRecording } from "../support/stored-recording.ts";

const CUTS: readonly number[] = Array(10).fill(64 * 1024);
const service = shareService({ start: false });

/** Uppy's published bundle, on a page of another origin than the service. */
async function startPage(): Promise<string> {
  const folder = await temporaryFolder();
  const input = join(import.meta.dirname, "uppy-page.js");
  const bundle = await rolldown({ input, platform: "browser" });
  await bundle.write({ file: join(folder, "page.js"), codeSplitting: false });
  await bundle.close();
  const script = await readFile(join(folder, "page.js"));
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : '<!doctype html><body><script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

async function openPage(): Promise<{
  page: Page;
  origin: string;
  upload(how: object, name: string, file: Buffer): Promise<string>;
}> {
  const origin = await startPage();
  const browser = await startChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(origin);
  await page.waitForFunction("document.body.innerText.includes('ready')");
  return {
    page,
    origin,
    upload: (how, name, file) =>
      page.evaluate<string>(
        `window.uploadWith(${JSON.stringify({ ...how, name, base64: file.toString("base64") })})`,
      ),
  };
}

test("Uppy uploads from a page of another origin, by an upload URL and with a key, if the origin is allowed", async () => {
  const { page, origin, upload: uploadFile } = await openPage();
  const tenant = await createTenant(service, { aiTranscription: false });
  const headers = { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" };
  const file = randomBytes(200_000);
  const upload = (how: object, name: string) => uploadFile(how, name, file);
  const newTicket = async () => {
    const body = JSON.stringify({ sizeBytes: file.length });
    const created = await fetch(`${service.url}/api/v1/videos`, { method: "POST", headers, body });
    return ((await created.json()) as { upload: { url: string } }).upload.url;
  };
  const keyed = { endpoint: `${service.url}/api/v1/uploads`, key: tenant.key };

  expect(await upload({ uploadUrl: await newTicket() }, "by-url.mp4")).toBe("uploaded by-url.mp4");
  expect(await upload(keyed, "keyed.mp4")).toBe("uploaded keyed.mp4");
  const db = service.service.parts.database.kysely;
  await changeEnvironment(db, tenant.environmentId, { allowedOrigins: [origin] });
  expect(await upload({ uploadUrl: await newTicket() }, "allowed.mp4")).toBe("uploaded allowed.mp4");
  await changeEnvironment(db, tenant.environmentId, { allowedOrigins: ["https://app.example"] });
  expect(await upload({ uploadUrl: await newTicket() }, "foreign-url.mp4")).toMatch(/^refused/);
  expect(await upload(keyed, "foreign-key.mp4")).toMatch(/^refused/);

  const { data } = (await (await fetch(`${service.url}/api/v1/videos`, { headers })).json()) as {
    data: { id: string; status: string }[];
  };
  const arrived = data.filter(({ status }) => status === "uploaded");
  expect(arrived).toHaveLength(3);
  for (const { id } of arrived) {
    expect((await readRecording(service.service, id))?.equals(file)).toBe(true);
  }
  const screenshots = process.env.SCREENSHOTS;
  if (!screenshots) return;
  await mkdir(screenshots, { recursive: true });
  await writeFile(join(screenshots, "uppy.png"), await page.screenshot());
});

test("an Uppy upload whose connection is cut ten times arrives completely", async () => {
  const { upload } = await openPage();
  const tenant = await createTenant(service, { aiTranscription: false });
  const proxy = await startCuttingProxy(Number(new URL(service.url).port), CUTS);
  const file = randomBytes(3 * 1024 * 1024);
  const how = {
    endpoint: `${proxy.url}/api/v1/uploads`,
    key: tenant.key,
    retryDelays: Array(2 * CUTS.length).fill(10),
  };
  expect(await upload(how, "cut.mp4", file)).toBe("uploaded cut.mp4");
  expect(proxy.cutsLeft()).toBe(0);
  const db = service.service.parts.database.kysely;
  const { id } = await db
    .selectFrom("video")
    .select("id")
    .where("environment_id", "=", tenant.environmentId)
    .executeTakeFirstOrThrow();
  expect((await readRecording(service.service, id))?.equals(file)).toBe(true);
});

test.each([1, 4, 20])("Uppy uploads 300 small files, %i in parallel, and none fails", async (limit) => {
  const { page } = await openPage();
  const tenant = await createTenant(service, { aiTranscription: false });
  const endpoint = `${service.url}/api/v1/uploads`;
  const how = JSON.stringify({ endpoint, key: tenant.key, count: 300, bytes: 2 * 1024, limit });
  expect(await page.evaluate(`window.uploadMany(${how})`)).toEqual({ uploaded: 300, failures: [] });
  const { videos } = await service.service.parts.database.kysely
    .selectFrom("video")
    .select(({ fn }) => fn.countAll<string>().as("videos"))
    .where("environment_id", "=", tenant.environmentId)
    .where("uploaded_at", "is not", null)
    .executeTakeFirstOrThrow();
  expect(Number(videos)).toBe(300);
});
