import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import scalar from "@scalar/fastify-api-reference";
import { fastify } from "fastify";
import type { ContentsGroup } from "./contents.ts";

const COMPRESSED = new Set([".html", ".js", ".css", ".json", ".svg", ".md", ".txt"]);

/** Packages whose code is part of the site, so their licenses are too. */
const BUNDLED = [
  "vitepress",
  "vue",
  "@vueuse/core",
  "minisearch",
  "mark.js",
  "@scalar/fastify-api-reference",
];

interface Site {
  /** Folder of the Markdown files. */
  docs: string;
  /** Paths of the Markdown files that have a page. */
  pages: string[];
  contents: ContentsGroup[];
  /** Contents of additional files, keyed by path. */
  files: Record<string, string>;
}

/** Adds all other files to VitePress's pages, removes inline scripts and styles, and compresses the result. */
export async function finishBuild(folder: string, { docs, pages, contents, files }: Site): Promise<void> {
  for (const page of pages) cpSync(join(docs, page), join(folder, page));
  const markdown = (name: string) => readFileSync(join(docs, `${name}.md`), "utf8");
  const written = {
    ...files,
    "licenses.txt": BUNDLED.map((name) => licenseOf(name)).join("\n"),
    "scalar.js": await scalarBundle(),
    "llms.txt": llmsIndex(markdown("index")),
    "llms-full.txt": contents
      .flatMap(({ links }) => links)
      .map(({ name }) => markdown(name))
      .join("\n"),
  };
  for (const [name, text] of Object.entries(written)) writeFileSync(join(folder, name), text);
  for (const file of filesIn(folder)) {
    if (file.endsWith(".html")) writeFileSync(file, removeInline(readFileSync(file, "utf8"), folder));
  }
  for (const file of filesIn(folder)) {
    if (!COMPRESSED.has(extname(file))) continue;
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    rmSync(file);
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Moves inline scripts to files and removes inline styles, because the Content-Security-Policy forbids both. */
function removeInline(html: string, folder: string): string {
  return html
    .replaceAll(/ style="(--vp-vh:0px|position:relative);"/g, "")
    .replaceAll(/<script([^>]*)>([^<]+)<\/script>/g, (_script, attributes: string, code: string) => {
      const name = `assets/inline.${createHash("sha256").update(code).digest("hex").slice(0, 8)}.js`;
      writeFileSync(join(folder, name), code);
      return `<script${attributes} src="/docs/${name}"></script>`;
    });
}

/** Returns the index page in the format of llmstxt.org, with relative links. */
function llmsIndex(index: string): string {
  return index
    .replace(/^!.*\n\n/m, "")
    .replace(/^(# .+\n\n)((?:.+\n)+)/, (_all, title: string, text: string) => {
      return title + text.replaceAll(/^/gm, "> ").replace(/> $/, "");
    });
}

function licenseOf(name: string): string {
  const folder = join(import.meta.dirname, "../node_modules", name);
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no license`);
  return `${name}\n\n${readFileSync(join(folder, file), "utf8")}`;
}

/** Takes Scalar's bundle from its Fastify plugin, because Scalar's other packages also install 280 MB of source code. */
async function scalarBundle(): Promise<string> {
  const app = fastify();
  await app.register(scalar, { configuration: { url: "/api/openapi.json" } });
  const { statusCode, payload } = await app.inject({ url: "/reference/js/scalar.js" });
  await app.close();
  if (statusCode !== 200) throw new Error(`Scalar's bundle was not found: ${statusCode}`);
  return payload.replace(/\n\/\/# sourceMappingURL=.*/, "");
}
