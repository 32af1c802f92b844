import { readdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { ALL_OPERATIONS, openApi } from "@subtext/client/contract/openapi";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { APP_ERRORS } from "../../src/lib/errors.ts";
import { shareService } from "../support/service.ts";

const DOCS = join(import.meta.dirname, "../../../docs");
const pages = readdirSync(DOCS, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md") && !/^decisions[./]/.test(name))
  .map((name) => `/docs/${name.slice(0, -3)}`.replace(/\/index$/, ""));
const service = shareService({ start: false });

const read = async (path: string) => await (await fetch(`${service.url}${path}`)).text();
const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

describe("the API's description", () => {
  test("is available to programs of any origin, with this service's address", async () => {
    const response = await fetch(`${service.url}/api/openapi.json`);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const made = openApi({ version: packageJson.version, serverUrl: service.url });
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(made)));
  });

  test("is shown as a page with every operation", async () => {
    const html = await read("/docs/api-reference");
    for (const { id, path } of ALL_OPERATIONS) {
      expect(html).toContain(`<section id="${id}">`);
      expect(html).toContain(path);
    }
  });
});

describe("the documentation", () => {
  test("is a set of pages that execute nothing and load only images from this origin", async () => {
    expect(pages.length).toBeGreaterThan(10);
    for (const path of [...pages, "/docs/api-reference", "/docs/search", "/docs/search?q=webhook"]) {
      const response = await fetch(`${service.url}${path}`);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
      );
      const html = await response.text();
      // Examples are escaped.
      expect(html).not.toMatch(/<script|<link|<iframe|\sstyle=|\son\w+="|>undefined<|\[object|<!--/);
      expect(html).not.toMatch(/<img src="(?!\/docs\/)/);
    }
  });

  test("has valid links, unique anchors, and one first-level heading per page", async () => {
    const paths = [...pages, "/docs/api-reference"];
    const html = new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)));
    const ids = new Map([...html].map(([path, text]) => [path, idsOf(text)]));
    for (const [path, text] of html) {
      expect([path, new Set(ids.get(path)).size]).toEqual([path, ids.get(path)?.length]);
      expect([path, text.match(/<h1\b/g)?.length]).toEqual([path, 1]);
      for (const [, href = ""] of text.matchAll(/(?:href|src)="([#/][^"]*)"/g)) {
        const [target = "", anchor] = href.split("#");
        const lost = [path, href];
        const known = ids.get(target === "" ? path : target);
        if (anchor !== undefined) expect(known, lost.join(" → ")).toContain(anchor);
        else if (!known)
          expect([...lost, (await fetch(`${service.url}${href}`)).status]).toEqual([...lost, 200]);
      }
    }
  });

  test("lists every page in the contents of every page", async () => {
    for (const path of ["/docs", "/docs/errors", "/docs/api-reference"]) {
      const [, contents = ""] = /<nav class="side"[^>]*>(.*?)<\/nav>/s.exec(await read(path)) ?? [];
      for (const page of pages) if (page !== "/docs") expect(contents).toContain(`href="${page}"`);
      if (path !== "/docs") expect(contents).toContain(`href="${path}" aria-current="page"`);
    }
  });

  test("explains every error at the URL in its problem documents", async () => {
    const ids = idsOf(await read("/docs/errors"));
    for (const code of Object.keys(APP_ERRORS)) expect(ids).toContain(code);
  });

  test("is available as Markdown too, and is not sent again to a client that has it", async () => {
    const first = await fetch(`${service.url}/docs/engines`);
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(`${service.url}/docs/engines`, { headers: { "if-none-match": etag } });
    expect([first.status, again.status]).toEqual([200, 304]);
    const markdown = await fetch(`${service.url}/docs/engines.md`);
    expect(markdown.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(await markdown.text()).toMatch(/^# Engines/);
  });

  test("serves only its own files", async () => {
    for (const path of [
      "/docs/../package.json",
      "/docs/..%2fpackage.json",
      "/docs/%2e%2e/README.md",
      "/docs/decisions/README",
      "/docs/..%5c..%5cpackage.json",
      "/docs//etc/passwd",
      "/docs/images/",
      "/docs/errors.md%00",
      "/docs/__proto__",
    ]) {
      expect([path, await statusOf(path)]).toEqual([path, expect.toBeOneOf([400, 404])]);
    }
  });
});

describe("the documentation's search", () => {
  const hits = async (question: string) => {
    const html = await read(`/docs/search?q=${encodeURIComponent(question)}`);
    const [, list = ""] = /<ol class="hits">(.*?)<\/ol>/s.exec(html) ?? [];
    return [...list.matchAll(/<li><a href="([^"]+)">/g)].map(([, href]) => href);
  };

  test("finds an error code, a setting and an operation", async () => {
    expect((await hits("media_too_long"))[0]).toBe("/docs/errors#media_too_long");
    expect((await hits("rotate secret")).slice(0, 3)).toContain("/docs/api-reference#rotateWebhookSecret");
    expect(await hits("Idempotency-Key")).toContain("/docs/api#conventions");
    expect((await hits("language detection"))[0]).toBe("/docs/engines#language-detection");
  });

  test("finds unfinished words, in singular and plural", async () => {
    expect(await hits("webhook endpoi")).toContain("/docs/api#webhook-endpoints");
    expect(await hits("retentions")).toContain("/docs/storage#retention");
  });

  test("escapes the query, whatever it contains", async () => {
    const html = await read(`/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
    expect(html).not.toContain("<script");
    expect(html).toContain("&quot;&gt;&lt;script&gt;");
    expect(await hits("   ")).toEqual([]);
    expect(await hits("qqzzxx")).toEqual([]);
    expect((await fetch(`${service.url}/docs/search?q=a&q=b`)).status).toBe(200);
    expect((await fetch(`${service.url}/docs/search?q=${"long ".repeat(1000)}`)).status).toBe(200);
  });
});

/** Requests the path verbatim; `fetch` would normalize it. */
async function statusOf(path: string): Promise<number | undefined> {
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
