import { Marked, type Token, type Tokens } from "marked";
import { escapeHtml, renderCode } from "./html.ts";

/** The target of a page's link: a URL, or a source file that is not served. */
export type Target = { href: string } | { inSources: string };

/** A section of a page that a search can return. */
export interface Passage {
  /** Anchor of the nearest heading or table row; empty for text before the first. */
  id: string;
  heading: string;
  text: string;
}

export interface MarkdownPage {
  title: string;
  html: string;
  /** Second-level headings, for tables of contents. */
  sections: { id: string; title: string }[];
  passages: Passage[];
}

const WIDE_COLUMNS = 4;
/** A first cell that contains only such a name is a link target: codes, settings, metrics. */
const ROW_NAME = /^[A-Za-z]\w*$/;

/**
 * Renders a page of `docs/`. Anchors of headings are those of GitHub. A table row whose first cell is one name in
 * backticks gets that name as its anchor. Raw HTML is shown as text; comments are removed.
 */
export function renderMarkdown(markdown: string, targetOf: (href: string) => Target): MarkdownPage {
  const marked = new Marked();
  const tokens = marked.lexer(markdown);
  const { ids, sections, passages, title } = readOutline(tokens);
  marked.use({
    renderer: {
      heading(token) {
        const id = escapeHtml(ids.get(token) ?? "");
        const text = this.parser.parseInline(token.tokens);
        const tag = `h${token.depth}`;
        return token.depth === 1
          ? `<h1 id="${id}">${text}</h1>\n`
          : `<${tag} id="${id}"><a href="#${id}">${text}</a></${tag}>\n`;
      },
      table(token) {
        const cell = (tag: string, { tokens: inline }: Tokens.TableCell) =>
          `<${tag}>${this.parser.parseInline(inline)}</${tag}>`;
        const rows = token.rows.map((row) => {
          const id = row[0] && ids.get(row[0]);
          return `<tr${id ? ` id="${escapeHtml(id)}"` : ""}>${row.map((each) => cell("td", each)).join("")}</tr>\n`;
        });
        const isBare = token.header.every(({ text }) => text.trim() === "");
        const head = token.header.map((each) => (each.text.trim() ? cell("th", each) : "<td></td>")).join("");
        const table = `<table>${isBare ? "" : `<thead><tr>${head}</tr></thead>`}<tbody>\n${rows.join("")}</tbody></table>\n`;
        // Scrolls on a phone instead of breaking words.
        return token.header.length < WIDE_COLUMNS
          ? table
          : `<div class="wide" role="group" aria-label="Table" tabindex="0">${table}</div>\n`;
      },
      code: ({ text }) => `${renderCode(text)}\n`,
      html: ({ text }) => (isComment(text) ? "" : escapeHtml(text)),
      link({ href, tokens: inline }) {
        const text = this.parser.parseInline(inline);
        const target = targetOf(href);
        if ("href" in target) return `<a href="${escapeHtml(target.href)}">${text}</a>`;
        return plainText(inline).includes(target.inSources)
          ? text
          : `${text} (<code>${escapeHtml(target.inSources)}</code> in the sources)`;
      },
      image({ href, text }) {
        const target = targetOf(href);
        return "href" in target
          ? `<img src="${escapeHtml(target.href)}" alt="${escapeHtml(text)}">`
          : escapeHtml(text);
      },
    },
  });
  return { title, sections, passages, html: marked.parser(tokens) };
}

interface Outline extends Omit<MarkdownPage, "html"> {
  /** Anchors of headings, and of the first cells of table rows. */
  ids: Map<Token | Tokens.TableCell, string>;
}

function readOutline(tokens: Token[]): Outline {
  const outline: Outline = { title: "", ids: new Map(), sections: [], passages: [] };
  const taken = new Set<string>();
  let passage: Passage = { id: "", heading: "", text: "" };
  const begin = (id: string, heading: string) => {
    passage = { id, heading, text: "" };
    outline.passages.push(passage);
  };
  for (const token of tokens) {
    if (token.type === "heading") {
      const text = plainText(token.tokens ?? []);
      const id = unused(slugOf(text), taken);
      outline.ids.set(token, id);
      if (token.depth === 1) {
        outline.title ||= text;
        begin("", text);
        continue;
      }
      if (token.depth === 2) outline.sections.push({ id, title: text });
      begin(id, text);
    } else if (token.type === "table") {
      for (const row of (token as Tokens.Table).rows) {
        const [first] = row;
        const name = nameOf(first);
        const text = row.map((cell) => plainText(cell.tokens)).join(" ");
        if (!first || name === null || taken.has(name)) {
          passage.text += `${text}\n`;
          continue;
        }
        taken.add(name);
        outline.ids.set(first, name);
        outline.passages.push({ id: name, heading: name, text });
      }
    } else passage.text += `${plainText([token])}\n`;
  }
  return outline;
}

function nameOf(cell: Tokens.TableCell | undefined): string | null {
  const [only, ...others] = cell?.tokens ?? [];
  if (only?.type !== "codespan" || others.length > 0) return null;
  return ROW_NAME.test(only.text) ? only.text : null;
}

/** GitHub's anchor of a heading. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

function unused(slug: string, taken: Set<string>): string {
  let id = slug;
  for (let count = 1; taken.has(id); count++) id = `${slug}-${count}`;
  taken.add(id);
  return id;
}

/** The visible text, without markup. */
export function plainText(tokens: Token[]): string {
  return tokens
    .map((token) => {
      if (token.type === "html") return "";
      if (token.type === "image") return String(token.text);
      if (token.type === "br") return " ";
      if (token.type === "list") {
        return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join("\n");
      }
      if ("tokens" in token && token.tokens) return plainText(token.tokens);
      return "text" in token ? unescapeText(String(token.text)) : "";
    })
    .join("");
}

/** Decodes the few HTML entities that the lexer writes into the text of tokens. */
function unescapeText(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

function isComment(html: string): boolean {
  return /^\s*<!--[\s\S]*-->\s*$/.test(html);
}
