import { createHash } from "node:crypto";
import { join } from "node:path";
import { ALL_OPERATIONS, openApi } from "@subtext/client/contract/openapi";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { addressOf, type ContentsGroup, INDEX_PAGE, openDocsLibrary } from "./library.ts";
import { REFERENCE_ADDRESS, renderReference } from "./reference.ts";
import { indexDocs, type SearchEntry, type SearchHit } from "./search.ts";
import { renderHits } from "./search-page.ts";
import { renderShell, type ShellOptions } from "./shell.ts";
import { DOCS_STYLE } from "./style.ts";

const DOCS_FOLDER = join(import.meta.dirname, "../../../../docs");
const HTML = "text/html; charset=utf-8";
const STYLE_HASH = createHash("sha256").update(DOCS_STYLE).digest("base64");
/** Own images, one style, forms that submit to the search: no scripts, no frames, no external resources. */
const PAGE_HEADERS = {
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
};
/** For SVG images that are opened directly. */
const IMAGE_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
};

interface DocsOptions {
  version: string;
  publicUrl: string;
  /** Another folder than the project's. */
  folder?: string;
}

/**
 * Serves `/api/openapi.json` for programs and, below `/docs`, the pages of `docs/`, the reference that is generated
 * from the contract, and a search over both. Each file has its own route, so no other file can be requested.
 */
export function registerDocs(
  app: FastifyInstance,
  { version, publicUrl, folder = DOCS_FOLDER }: DocsOptions,
): void {
  const description = JSON.stringify(openApi({ version, serverUrl: publicUrl }));
  app.get("/api/openapi.json", async (_request, reply) =>
    reply
      .type("application/json; charset=utf-8")
      // Browser-based tools read it from other origins.
      .headers({ "access-control-allow-origin": "*", "cache-control": "no-cache" })
      .send(description),
  );

  const library = openDocsLibrary(folder);
  const shell = (page: Pick<ShellOptions, "title" | "href" | "sections" | "body" | "question">) =>
    renderShell({ ...page, version, contents: withReference(library.contents()) });

  serve(app, REFERENCE_ADDRESS, HTML, PAGE_HEADERS, () =>
    shell({ title: "API reference", href: REFERENCE_ADDRESS, ...renderReference({ serverUrl: publicUrl }) }),
  );
  for (const name of library.pageNames) {
    serve(app, addressOf(name), HTML, PAGE_HEADERS, () => {
      const { title, sections, html: body } = library.page(name);
      return shell({ title, href: addressOf(name), sections, body });
    });
    serve(app, `/docs/${name}.md`, "text/markdown; charset=utf-8", {}, () => library.markdown(name));
  }
  for (const name of library.imageNames) {
    const { type, read } = library.image(name);
    serve(app, addressOf(name), type, IMAGE_HEADERS, read);
  }
  if (!library.pageNames.includes(INDEX_PAGE)) {
    app.get("/docs", async (_request, reply) => reply.redirect(REFERENCE_ADDRESS));
  }

  let search: ((question: string) => SearchHit[]) | undefined;
  app.get("/docs/search", async (request, reply) => {
    const { q } = request.query as Record<string, unknown>;
    const question = typeof q === "string" ? q.slice(0, 200) : "";
    search ??= indexDocs([...entriesOf(library), ...operationEntries()]);
    const body = renderHits(question, search(question));
    return await reply
      .type(HTML)
      .headers({ ...PAGE_HEADERS, "cache-control": "no-store" })
      .send(shell({ title: "Search", href: "/docs/search", sections: [], body, question }));
  });
}

/** The reference follows the page that introduces it. Markdown files cannot link to it, because GitHub shows them too. */
function withReference(contents: ContentsGroup[]): ContentsGroup[] {
  const reference = { title: "API reference", href: REFERENCE_ADDRESS };
  if (contents.length === 0) return [{ title: "API", links: [reference] }];
  return contents.map(({ title, links }) => ({
    title,
    links: links.flatMap((link) => (link.href === addressOf("api") ? [link, reference] : [link])),
  }));
}

/** Created at the first request and cached: the files belong to the release. */
function serve(
  app: FastifyInstance,
  path: string,
  type: string,
  headers: Record<string, string>,
  make: () => string | Buffer,
): void {
  let made: { body: string | Buffer; etag: string } | undefined;
  app.get(path, async (request: FastifyRequest, reply: FastifyReply) => {
    if (!made) {
      const body = make();
      made = { body, etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"` };
    }
    reply.headers({ ...headers, etag: made.etag, "cache-control": "no-cache" });
    if (request.headers["if-none-match"] === made.etag) return await reply.code(304).send();
    return await reply.type(type).send(made.body);
  });
}

function entriesOf(library: ReturnType<typeof openDocsLibrary>): SearchEntry[] {
  return library.pageNames.flatMap((name) => {
    const { title, passages } = library.page(name);
    return passages.map(({ id, heading, text }) => ({
      href: `${addressOf(name)}${id && `#${id}`}`,
      page: title,
      heading,
      text,
    }));
  });
}

function operationEntries(): SearchEntry[] {
  return ALL_OPERATIONS.map(({ id, summary, description, method, path }) => ({
    href: `${REFERENCE_ADDRESS}#${id}`,
    page: "API reference",
    heading: summary,
    text: `${method} ${path}. ${description}`,
  }));
}
