import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { transformerStyleToClass } from "@shikijs/transformers";
import { defineConfig } from "vitepress";
import { readContents } from "../src/contents.ts";
import { finishBuild } from "../src/finish-build.ts";
import { anchorTableRows, demoteEmptyHeaders, slugOf, unlinkSources } from "../src/markdown.ts";

/** A copy of `docs/`, because pages must be next to `node_modules` to resolve Vue. */
const PAGES = join(import.meta.dirname, "../pages");
rmSync(PAGES, { recursive: true, force: true });
cpSync(join(import.meta.dirname, "../../docs"), PAGES, { recursive: true });

const CODE_STYLES = "code.css";
const ICON = "logo.svg";
const DASHBOARD_ICON = join(import.meta.dirname, "../../dashboard/src/ui/theme/logo.svg");

/** Replaces inline styles, which the Content-Security-Policy forbids. */
const codeClasses = transformerStyleToClass({ classPrefix: "code-" });
const contents = readContents(readFileSync(join(PAGES, "index.md"), "utf8"));
/**
 * Not a VitePress page, so `_self` bypasses VitePress's router. The Markdown pages cannot link to it, because their
 * links must also work on GitHub.
 */
const reference = { text: "API reference", link: "/api-reference", target: "_self" };

export default defineConfig({
  lang: "en-US",
  title: "Subtext",
  description: "Self-hosted transcription of every uploaded video.",
  base: "/docs/",
  srcDir: PAGES,
  outDir: join(import.meta.dirname, "../dist"),
  // Contains only a link to the decision records.
  srcExclude: ["decisions.md"],
  cleanUrls: true,
  // Moves an inline script to a file, because the Content-Security-Policy forbids it. `finishBuild` moves the others.
  metaChunk: true,
  head: [
    ["link", { rel: "stylesheet", href: `/docs/${CODE_STYLES}` }],
    ["link", { rel: "icon", type: "image/svg+xml", href: `/docs/${ICON}` }],
  ],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: slugOf },
    codeTransformers: [codeClasses],
    languageAlias: { caddy: "nginx" },
    config(md) {
      md.use(anchorTableRows).use(demoteEmptyHeaders).use(unlinkSources);
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
    finishBuild(outDir, {
      docs: srcDir,
      pages,
      contents,
      files: { [CODE_STYLES]: codeClasses.getCSS(), [ICON]: readFileSync(DASHBOARD_ICON, "utf8") },
    }),
});
