import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { type FastifyInstance, fastify } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { registerDashboard } from "../../src/admin/dashboard-pages.ts";
import { registerProblems } from "../../src/http/problems.ts";
import { temporaryFolder } from "../support/service.ts";

const DOCUMENT = "<!doctype html><script type=module src=/assets/index-abc.js></script>";
const SCRIPT = "console.log('a dashboard');";

async function serve(folder: string, mediaOrigin: string | null = null): Promise<FastifyInstance> {
  const app = fastify();
  registerProblems(app);
  await registerDashboard(app, { folder, mediaOrigin, command: "subtext" });
  onTestFinished(() => app.close());
  return app;
}

/** A build of one document and one script. */
async function serveBuilt(): Promise<FastifyInstance> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), DOCUMENT);
  await writeFile(join(folder, "assets/index-abc.js"), SCRIPT);
  await writeFile(join(folder, "assets/index-abc.js.gz"), gzipSync(SCRIPT));
  return await serve(folder);
}

test("every page is the same document, revalidated on each request, under a strict policy", async () => {
  const app = await serveBuilt();
  for (const url of ["/", "/setup", "/sign-in?next=%2F", "/environments/env_1/videos", "/account"]) {
    const response = await app.inject({ url });
    expect(response.payload).toBe(DOCUMENT);
    expect(response.headers["cache-control"]).toBe("no-cache");
    const policy = String(response.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  }
  expect((await app.inject({ url: "/api/v1/nothing" })).statusCode).toBe(404);
  expect((await app.inject({ url: "/nothing" })).headers["content-type"]).toMatch("application/problem+json");
});

test("the document names the command of this installation, and its tag changes with it", async () => {
  const folder = await temporaryFolder();
  const source = await readFile(join(import.meta.dirname, "../../../dashboard/index.html"), "utf8");
  await writeFile(join(folder, "index.html"), source);
  const response = await (await serve(folder)).inject({ url: "/" });
  expect(response.payload).toContain('<meta name="subtext-command" content="subtext" />');
  await writeFile(join(folder, "index.html"), source.replace("npx subtext", "subtext"));
  const same = await (await serve(folder)).inject({ url: "/" });
  expect(same.headers.etag).toBe(response.headers.etag);
});

test("if recordings are stored elsewhere, only the player may load from there", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "index.html"), DOCUMENT);
  const app = await serve(folder, "https://bucket.example:9000");
  const policy = String((await app.inject({ url: "/" })).headers["content-security-policy"]);
  expect(policy.split("; ").filter((rule) => rule.includes("bucket.example"))).toEqual([
    "media-src 'self' blob: https://bucket.example:9000",
  ]);
});

test("assets are cached forever, compressed if the client accepts it, and not found if they do not exist", async () => {
  const app = await serveBuilt();
  const url = "/assets/index-abc.js";
  const plain = await app.inject({ url });
  expect(plain.payload).toBe(SCRIPT);
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(plain.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect(plain.headers["content-type"]).toBe("text/javascript; charset=utf-8");
  expect(plain.headers.vary).toBe("Accept-Encoding");

  const compressed = await app.inject({ url, headers: { "accept-encoding": "br, GZIP;q=0.8" } });
  expect(compressed.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(compressed.rawPayload).toString()).toBe(SCRIPT);
  const refused = await app.inject({ url, headers: { "accept-encoding": "gzip;q=0" } });
  expect(refused.headers["content-encoding"]).toBeUndefined();

  const known = await app.inject({ url, headers: { "if-none-match": String(plain.headers.etag) } });
  expect([known.statusCode, known.payload]).toEqual([304, ""]);
  // A proxy that compresses responses makes the tag weak.
  const weak = await app.inject({ url, headers: { "if-none-match": `W/${plain.headers.etag}` } });
  expect(weak.statusCode).toBe(304);
  for (const wrong of ["/assets/", "/assets/../index.html", "/assets/index-abc.js.gz", "/assets/%2e%2e/x"]) {
    expect((await app.inject({ url: wrong })).statusCode).toBe(404);
  }
});

test("HEAD returns what GET would, without the body", async () => {
  const app = await serveBuilt();
  for (const url of ["/", "/assets/index-abc.js"]) {
    const response = await app.inject({ method: "HEAD", url });
    expect([response.statusCode, response.payload]).toEqual([200, ""]);
    expect(response.headers["content-length"]).toBe(String((await app.inject({ url })).rawPayload.length));
  }
});

test("without a build the pages say how to create one", async () => {
  const app = await serve(join(await temporaryFolder(), "not-there"));
  const response = await app.inject({ url: "/" });
  expect(response.statusCode).toBe(503);
  expect(response.json().detail).toContain("npm run build");
});
