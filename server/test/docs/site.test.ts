import { readdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { openApi } from "@subtext/client/contract/openapi";
import { type FastifyInstance, fastify } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { registerDocs } from "../../src/api/docs.ts";
import { registerProblems } from "../../src/http/problems.ts";
import { shareService, temporaryFolder } from "../support/service.ts";

const DOCS = join(import.meta.dirname, "../../../docs");
const service = shareService({ start: false });

async function serve(siteFolder: string): Promise<FastifyInstance> {
  const app = fastify();
  registerProblems(app);
  registerDocs(app, { version: "1.2.3", publicUrl: "https://captions.example", siteFolder });
  onTestFinished(() => app.close());
  return app;
}

/** Like a real build, contains only compressed files. */
async function serveBuilt(): Promise<FastifyInstance> {
  const folder = await temporaryFolder();
  const files = {
    "index.html": "<h1>Subtext</h1>",
    "errors.html": "<h1>Errors</h1>",
    "errors.md": "# Errors",
    "api-reference.html": "<title>API reference</title>",
    "assets/app.1a2b.js": "console.log('a page');",
  };
  await mkdir(join(folder, "assets"));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, `${name}.gz`), gzipSync(text));
  }
  return await serve(folder);
}

test("the API's description is available to programs of any origin, with this service's address", async () => {
  const response = await fetch(`${service.url}/api/openapi.json`);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  const made = openApi({ version: packageJson.version, serverUrl: service.url });
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(made)));
});

describe("the built site", () => {
  test("has pages without an ending, under a policy that allows no inline script and no other origin", async () => {
    const app = await serveBuilt();
    for (const [url = "", text] of [
      ["/docs/", "<h1>Subtext</h1>"],
      ["/docs/errors", "<h1>Errors</h1>"],
      ["/docs/api-reference", "<title>API reference</title>"],
    ]) {
      const response = await app.inject({ url });
      expect([url, response.payload]).toEqual([url, text]);
      expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(response.headers["cache-control"]).toBe("no-cache");
      const policy = String(response.headers["content-security-policy"]);
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
      expect(policy).not.toMatch(/script-src[^;]*unsafe|https?:|\*/);
    }
    expect((await app.inject({ url: "/docs" })).headers.location).toBe("/docs/");
  });

  test("is compressed unless the client does not accept that, and is not sent again to a client that has it", async () => {
    const app = await serveBuilt();
    const url = "/docs/assets/app.1a2b.js";
    const plain = await app.inject({ url });
    expect([plain.payload, plain.headers["content-encoding"]]).toEqual(["console.log('a page');", undefined]);
    expect(plain.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const compressed = await app.inject({ url, headers: { "accept-encoding": "gzip" } });
    expect(compressed.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(compressed.rawPayload).toString()).toBe("console.log('a page');");
    const known = { "if-none-match": String(plain.headers.etag) };
    expect((await app.inject({ url, headers: known })).statusCode).toBe(304);
  });

  test("is available as Markdown too", async () => {
    const response = await (await serveBuilt()).inject({ url: "/docs/errors.md" });
    expect(response.headers["content-type"]).toBe("text/markdown; charset=utf-8");
    expect(response.payload).toBe("# Errors");
  });
});

describe("without a built site", () => {
  test("a page says how to build it, and links to every Markdown file", async () => {
    const app = await serve(join(await temporaryFolder(), "not-there"));
    const page = await app.inject({ url: "/docs/" });
    expect(page.statusCode).toBe(200);
    expect(page.payload).toContain("npm run docs:build");
    const names = readdirSync(DOCS, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".md"),
    );
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) expect(page.payload).toContain(`href="/docs/${name}"`);
    for (const [, url = ""] of page.payload.matchAll(/href="([^"]+)"/g)) {
      expect([url, (await app.inject({ url })).statusCode]).toEqual([url, 200]);
    }
    expect((await app.inject({ url: "/docs/api-reference" })).payload).toBe(page.payload);
  });

  test("the address of a page leads to its Markdown file", async () => {
    const app = await serve(join(await temporaryFolder(), "not-there"));
    expect((await app.inject({ url: "/docs/errors" })).headers.location).toBe("/docs/errors.md");
    const markdown = await app.inject({ url: "/docs/errors.md" });
    expect(markdown.headers["content-type"]).toBe("text/markdown; charset=utf-8");
    expect(markdown.payload).toMatch(/^# Errors/);
  });
});

test("the documentation is served once it can be read, even if the first attempt failed", async () => {
  const site = join(await temporaryFolder(), "dist");
  await writeFile(site, "not a folder");
  const app = await serve(site);
  expect((await app.inject({ url: "/docs/" })).statusCode).toBe(500);
  await rm(site);
  await mkdir(site);
  await writeFile(join(site, "index.html"), "<h1>Subtext</h1>");
  expect((await app.inject({ url: "/docs/" })).payload).toBe("<h1>Subtext</h1>");
});

test("only files of the documentation are served", async () => {
  for (const path of [
    "/docs/../package.json",
    "/docs/..%2fpackage.json",
    "/docs/%2e%2e/README.md",
    "/docs/..%5c..%5cpackage.json",
    "/docs//etc/passwd",
    "/docs/images/",
    "/docs/errors.md%00",
    "/docs/__proto__",
  ]) {
    expect([path, await requestStatus(path)]).toEqual([path, expect.toBeOneOf([400, 404])]);
  }
});

/** Sends the path verbatim; `fetch` would normalize it. */
async function requestStatus(path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(service.url);
  return await new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}
