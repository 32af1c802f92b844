import { posix } from "node:path";

/** The part of markdown-it's API that the plugins use. */
interface Token {
  type: string;
  tag: string;
  content: string;
  children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}
interface State {
  tokens: Token[];
  /** The page's path in `docs/`, from VitePress. */
  env: { relativePath: string };
}
interface MarkdownIt {
  core: {
    ruler: { push(name: string, rule: (state: State) => void): void };
  };
}

/** An error code, setting or metric. */
const ROW_NAME = /^[A-Za-z]\w*$/;

/** Returns the anchor that GitHub generates for a heading. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

/** Adds an anchor to each table row whose first cell contains only a name in backticks. */
export function anchorTableRows(md: MarkdownIt): void {
  md.core.ruler.push("anchor_table_rows", ({ tokens }) => {
    const taken = new Set<string>();
    for (const [index, token] of tokens.entries()) {
      const [cell, inline] = tokens.slice(index + 1, index + 3);
      if (token.type !== "tr_open" || cell?.type !== "td_open") continue;
      const [name, ...others] = inline?.children ?? [];
      if (name?.type !== "code_inline" || others.length > 0) continue;
      if (!ROW_NAME.test(name.content) || taken.has(name.content)) continue;
      taken.add(name.content);
      token.attrSet("id", name.content);
    }
  });
}

/** Turns empty header cells into ordinary cells, because headers without text confuse screen readers. */
export function demoteEmptyHeaders(md: MarkdownIt): void {
  md.core.ruler.push("demote_empty_headers", ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      const [inline, end] = tokens.slice(index + 1, index + 3);
      if (token.type === "th_open" && inline?.content === "" && end) token.tag = end.tag = "td";
    }
  });
}

/** Replaces links to files outside `docs/`, which the site does not contain, with their text. */
export function unlinkSources(md: MarkdownIt): void {
  md.core.ruler.push("unlink_sources", ({ tokens, env }) => {
    const folder = posix.dirname(env.relativePath);
    for (const { children } of tokens) {
      let inSources = false;
      for (const token of children ?? []) {
        if (token.type === "link_open")
          inSources = posix.join(folder, token.attrGet("href") ?? "").startsWith("../");
        if (!inSources || !token.type.startsWith("link_")) continue;
        token.type = "text";
      }
    }
  });
}
