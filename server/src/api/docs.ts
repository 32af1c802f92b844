import { join } from "node:path";
import { openApi } from "@subtext/client/contract/openapi";
import type { FastifyInstance } from "fastify";
import { readStaticFiles, type StaticFile, sendStaticFile } from "../http/static-files.ts";
import { AppError } from "../lib/errors.ts";

const PROJECT = join(import.meta.dirname, "../../..");
const REFERENCE = "api-reference.html";

/** Hash of the style element that VitePress inserts temporarily to disable transitions while it switches themes. */
const NO_TRANSITIONS = "'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='";
/** Allows only resources of this origin and no framing. The theme's icons are `data:` URLs. */
const PAGE_POLICY = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": `'self' ${NO_TRANSITIONS}`,
  "img-src": "'self' data:",
  "font-src": "'self'",
  "connect-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};
/** Scalar, which renders the API reference, creates style elements at run time. */
const REFERENCE_POLICY = { ...PAGE_POLICY, "style-src": "'self' 'unsafe-inline'" };
/** Prevents scripts in SVG images that are opened directly. */
const IMAGE_POLICY = { "default-src": "'none'", "style-src": "'unsafe-inline'", sandbox: "" };

interface DocsOptions {
  version: string;
  publicUrl: string;
  /** The built site. By default, the output folder of `npm run docs:build`. */
  siteFolder?: string;
}

/**
 * Serves `/api/openapi.json` and the built documentation site below `/docs`. Without a build, serves the Markdown files
 * of `docs/` and a page that lists them.
 */
export function registerDocs(
  app: FastifyInstance,
  { version, publicUrl, siteFolder = join(PROJECT, "site/dist") }: DocsOptions,
): void {
  const description = JSON.stringify(openApi({ version, serverUrl: publicUrl }));
  app.get("/api/openapi.json", async (_request, reply) =>
    reply
      .type("application/json; charset=utf-8")
      // Browser-based tools read it from other origins.
      .headers({ "access-control-allow-origin": "*", "cache-control": "no-cache" })
      .send(description),
  );

  let site: Promise<Map<string, StaticFile>> | undefined;
  app.get("/docs", async (_request, reply) => reply.redirect("/docs/"));
  app.get("/docs/*", async (request, reply) => {
    const { "*": path } = request.params as { "*": string };
    // Loaded on the first request, because most processes never get one.
    site ??= readSite(siteFolder).catch((error: unknown) => {
      site = undefined;
      throw error;
    });
    const files = await site;
    const name = [path, `${path}.html`, `${path}index.html`].find((each) => files.has(each)) ?? "";
    const file = files.get(name);
    if (file) {
      reply.headers({
        "content-security-policy": policyOf(name, file),
        // The names of assets contain a hash of their content.
        "cache-control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
      });
      return await sendStaticFile(file, request, reply);
    }
    if (files.has(`${path}.md`)) return await reply.redirect(`/docs/${path}.md`);
    throw new AppError("route_not_found", `There is nothing at /docs/${path}.`);
  });
}

/** Reads the built site. Without a build, returns the Markdown files and a page that explains how to build the site. */
async function readSite(folder: string): Promise<Map<string, StaticFile>> {
  const site = await readStaticFiles(folder);
  if (site.size > 0) return site;
  const files = await readStaticFiles(join(PROJECT, "docs"));
  const page = {
    mediaType: "text/html; charset=utf-8",
    etag: "not-built",
    plain: Buffer.from(explainBuild([...files.keys()].filter((name) => name.endsWith(".md")).sort())),
    encoded: {},
  };
  return files.set("index.html", page).set(REFERENCE, page);
}

function explainBuild(names: string[]): string {
  const items = names.map((name) => `<li><a href="/docs/${name}">${name}</a></li>`);
  return `<!doctype html>
<html lang="en-US">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Documentation | Subtext</title>
<h1>The documentation site was not built</h1>
<p>Run <code>npm run docs:build</code>, then start the service again. Until then, you can read the Markdown files and the
<a href="/api/openapi.json">OpenAPI description</a> of the API:</p>
<ul>
${items.join("\n")}
</ul>
</html>
`;
}

function policyOf(name: string, { mediaType }: StaticFile): string {
  const page = name === REFERENCE ? REFERENCE_POLICY : PAGE_POLICY;
  return Object.entries(mediaType.startsWith("image/") ? IMAGE_POLICY : page)
    .map(([directive, value]) => `${directive} ${value}`.trim())
    .join("; ");
}
