import { escapeHtml } from "./html.ts";
import type { ContentsGroup } from "./library.ts";
import { DOCS_STYLE } from "./style.ts";

export interface ShellOptions {
  title: string;
  /** This page's path, to highlight it in the contents. */
  href: string;
  version: string;
  contents: ContentsGroup[];
  /** The page's headings, shown below it in the contents. */
  sections: { id: string; title: string }[];
  /** The search query. */
  question?: string;
  body: string;
}

/** The frame of every documentation page: search, contents, next page. Contains no scripts. */
export function renderShell(options: ShellOptions): string {
  const { title, version, body, question = "" } = options;
  const contents = renderContents(options);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Subtext</title>
<style>${DOCS_STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
<header>
<p class="brand"><a href="/docs">Subtext</a> <span>${escapeHtml(version)}</span></p>
<form role="search" action="/docs/search"><label for="q">Search the documentation</label><input id="q" type="search" name="q" placeholder="Search the documentation" maxlength="200" value="${escapeHtml(question)}" autocomplete="off"><button>Search</button></form>
<a class="home" href="/">Dashboard</a>
</header>
<details class="contents"><summary>Contents</summary><nav aria-label="Contents">${contents}</nav></details>
<nav class="side" aria-label="Documentation">${contents}</nav>
<main id="main" tabindex="-1">
${body}
${renderNeighbours(options)}
</main>
</body>
</html>
`;
}

function renderContents({ contents, href, sections }: ShellOptions): string {
  const item = (link: { title: string; href: string }) => {
    const isHere = link.href === href;
    const inside =
      isHere && sections.length > 0
        ? `<ul>${sections.map(({ id, title }) => `<li><a href="#${escapeHtml(id)}">${escapeHtml(title)}</a></li>`).join("")}</ul>`
        : "";
    return `<li><a href="${escapeHtml(link.href)}"${isHere ? ' aria-current="page"' : ""}>${escapeHtml(link.title)}</a>${inside}</li>`;
  };
  return contents
    .map(
      ({ title, links }) => `<p class="group">${escapeHtml(title)}</p><ul>${links.map(item).join("")}</ul>`,
    )
    .join("\n");
}

function renderNeighbours({ contents, href }: ShellOptions): string {
  const links = contents.flatMap((group) => group.links);
  const place = links.findIndex((link) => link.href === href);
  const [before, after] = place < 0 ? [] : [links[place - 1], links[place + 1]];
  if (!before && !after) return "";
  const link = (to: (typeof links)[number] | undefined, name: string, rel: string) =>
    to
      ? `<a rel="${rel}" href="${escapeHtml(to.href)}"><span>${name}</span> ${escapeHtml(to.title)}</a>`
      : "<span></span>";
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link(before, "Before", "prev")}${link(after, "Next", "next")}</nav>`;
}
