import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { Token, Tokens } from "marked";
import { Marked } from "marked";
import { type MarkdownPage, plainText, renderMarkdown, type Target } from "./markdown.ts";

/** The page whose lists of links are the table of contents. */
export const INDEX_PAGE = "index";

/** Pages that are not served. */
const FOR_DEVELOPERS = /^decisions[./]/;

const IMAGE_TYPES: Record<string, string> = {
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
  ".png": "image/png",
};

export interface ContentsGroup {
  title: string;
  links: { title: string; href: string }[];
}

/** The folder `docs/`: Markdown, rendered at the first request, and images. */
export interface DocsLibrary {
  /** Page names without `.md`; names in subfolders contain slashes. */
  pageNames: string[];
  imageNames: string[];
  page(name: string): MarkdownPage;
  markdown(name: string): string;
  image(name: string): { type: string; read(): Buffer };
  /** The groups of the index page; pages that it does not link to form their own group. */
  contents(): ContentsGroup[];
}

/** @param folder of the pages; if it does not exist, there are no pages */
export function openDocsLibrary(folder: string): DocsLibrary {
  const names = existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .map((name) => name.replaceAll("\\", "/"))
        .filter((name) => !FOR_DEVELOPERS.test(name))
        .sort()
    : [];
  const pageNames = names.filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3));
  const imageNames = names.filter((name) => posix.extname(name) in IMAGE_TYPES);
  const known = new Set([...pageNames.map((name) => `${name}.md`), ...imageNames]);
  const pages = new Map<string, MarkdownPage>();
  let groups: ContentsGroup[] | undefined;

  const markdown = (name: string) => readFileSync(join(folder, `${name}.md`), "utf8");

  function targetFrom(page: string, href: string): Target {
    if (/^[a-z][a-z+.-]*:/i.test(href) || href.startsWith("#") || href.startsWith("/")) return { href };
    const [path = "", anchor] = href.split("#");
    const name = posix.normalize(posix.join(posix.dirname(page), path));
    if (!known.has(name)) return { inSources: posix.normalize(posix.join("docs", name)) };
    return { href: `${addressOf(name.replace(/\.md$/, ""))}${anchor === undefined ? "" : `#${anchor}`}` };
  }

  function page(name: string): MarkdownPage {
    const rendered = pages.get(name) ?? renderMarkdown(markdown(name), (href) => targetFrom(name, href));
    pages.set(name, rendered);
    return rendered;
  }

  return {
    pageNames,
    imageNames,
    page,
    markdown,
    image: (name) => ({
      type: IMAGE_TYPES[posix.extname(name)] ?? "application/octet-stream",
      read: () => readFileSync(join(folder, name)),
    }),
    contents() {
      if (groups) return groups;
      groups = pageNames.includes(INDEX_PAGE)
        ? readGroups(markdown(INDEX_PAGE), (href) => targetFrom(INDEX_PAGE, href))
        : [];
      const listed = new Set(groups.flatMap(({ links }) => links.map(({ href }) => href)));
      const others = pageNames
        .filter((name) => name !== INDEX_PAGE && !listed.has(addressOf(name)))
        .map((name) => ({ title: page(name).title, href: addressOf(name) }));
      if (others.length > 0) groups.push({ title: "More", links: others });
      return groups;
    },
  };
}

/** The URL path of a page or an image. */
export function addressOf(name: string): string {
  return name === INDEX_PAGE ? "/docs" : `/docs/${name}`;
}

/** Each second-level heading with the first links of the list items below it. */
function readGroups(markdown: string, targetOf: (href: string) => Target): ContentsGroup[] {
  const groups: ContentsGroup[] = [];
  for (const token of new Marked().lexer(markdown)) {
    if (token.type === "heading" && token.depth === 2) {
      groups.push({ title: plainText(token.tokens ?? []), links: [] });
    }
    if (token.type !== "list") continue;
    for (const { tokens } of (token as Tokens.List).items) {
      const link = firstLink(tokens);
      const target = link && targetOf(link.href);
      if (link && target && "href" in target && target.href.startsWith("/docs")) {
        groups.at(-1)?.links.push({ title: plainText(link.tokens), href: target.href });
      }
    }
  }
  return groups.filter(({ links }) => links.length > 0);
}

function firstLink(tokens: Token[]): Tokens.Link | undefined {
  for (const token of tokens) {
    if (token.type === "link") return token as Tokens.Link;
    const inner = "tokens" in token && token.tokens ? firstLink(token.tokens) : undefined;
    if (inner) return inner;
  }
  return undefined;
}
