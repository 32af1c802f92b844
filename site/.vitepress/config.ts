import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { transformerStyleToClass } from "@shikijs/transformers";
import { defineConfig } from "vitepress";
import { readContents } from "../src/contents.ts";
import { finishBuild } from "../src/finish-build.ts";
import { anchorTableRows, dropEmptyHeaders, slugOf, unlinkSources } from "../src/markdown.ts";

/** A copy of `docs/`: Vue resolves only from a folder next to its packages. */
const PAGES = join(import.meta.dirname, "../pages");
rmSync(PAGES, { recursive: true, force: true });
cpSync(join(import.meta.dirname, "../../docs"), PAGES, { recursive: true });

const CODE_STYLES = "code.css";

/** Inline styles would need an exception in the Content-Security-Policy. */
const codeClasses = transformerStyleToClass({ classPrefix: "code-" });
const contents = readContents(readFileSync(join(PAGES, "index.md"), "utf8"));
/** Not a page of VitePress: its router must leave the link to the browser. Markdown cannot link to it, because GitHub shows it too. */
const reference = { text: "API reference", link: "/api-reference", target: "_self" };

export default defineConfig({
  lang: "en-US",
  title: "Subtext",
  description: "Self-hosted transcription of every uploaded video.",
  base: "/docs/",
  srcDir: PAGES,
  outDir: join(import.meta.dirname, "../dist"),
  // Only points to the decision records.
  srcExclude: ["decisions.md"],
  cleanUrls: true,
  // The other inline scripts become files at the end of the build.
  metaChunk: true,
  head: [["link", { rel: "stylesheet", href: `/docs/${CODE_STYLES}` }]],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: slugOf },
    codeTransformers: [codeClasses],
    languageAlias: { caddy: "nginx" },
    config(md) {
      md.use(anchorTableRows).use(dropEmptyHeaders).use(unlinkSources);
    },
  },
  themeConfig: {
    nav: [
      { text: "Documentation", link: "/" },
      { text: reference.text, link: reference.link, target: reference.target },
      { text: "Dashboard", link: "/../", target: "_self" },
    ],
    sidebar: contents.map(({ title, links }) => ({
      text: title,
      items: links.flatMap(({ title: text, name }) => [
        { text, link: `/${name}` },
        ...(name === "api" ? [reference] : []),
      ]),
    })),
    outline: [2, 3],
    search: { provider: "local" },
  },
  vite: {
    publicDir: join(import.meta.dirname, "../public"),
    build: { assetsInlineLimit: 0 },
  },
  buildEnd: ({ outDir, srcDir, pages }) =>
    finishBuild(outDir, { docs: srcDir, pages, contents, files: { [CODE_STYLES]: codeClasses.getCSS() } }),
});
