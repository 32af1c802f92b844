import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** Documents outside `docs/`. */
export const OTHER_PAGES = [
  "CONTRIBUTING.md",
  "client/README.md",
  "speech/README.md",
  "server/README.md",
  "captions/README.md",
  "examples/README.md",
  "CHANGELOG.md",
  "SECURITY.md",
];

/** A fenced code block in the README or in `docs/`. */
export interface DocumentedBlock {
  /** Path from the repository root. */
  page: string;
  line: number;
  language: string;
  text: string;
  /** The file in the comment `<!-- run by server/test/some.test.ts -->` above the block. */
  runBy: string | null;
  /** The reason in the comment `<!-- not run: … -->` above the block. */
  notRunBecause: string | null;
}

/** Returns the paths of the README and of all pages in `docs/`, from the repository root. */
export function documentedPages(): string[] {
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  return ["README.md", ...pages.sort()];
}

export function readBlocks(page: string): DocumentedBlock[] {
  const blocks: DocumentedBlock[] = [];
  let open: { block: DocumentedBlock; fence: string } | undefined;
  let lastNonemptyLine = "";
  for (const [index, line] of readFileSync(join(ROOT, page), "utf8").split("\n").entries()) {
    const fence = /^\s*(`{3,})(\w*)\s*$/.exec(line);
    if (open) {
      if (fence && fence[2] === "" && fence[1] === open.fence) open = undefined;
      else open.block.text += `${line}\n`;
    } else if (fence) {
      const [, ticks = "", language = ""] = fence;
      const block = {
        page,
        line: index + 1,
        language,
        text: "",
        runBy: /^<!-- run by (\S+) -->$/.exec(lastNonemptyLine)?.[1] ?? null,
        notRunBecause: /^<!-- not run: (.+) -->$/.exec(lastNonemptyLine)?.[1] ?? null,
      };
      blocks.push(block);
      open = { block, fence: ticks };
      lastNonemptyLine = "";
    } else if (line.trim() !== "") lastNonemptyLine = line.trim();
  }
  if (open) throw new Error(`${page}:${open.block.line}: the code block is not closed`);
  return blocks;
}

/** @param testFile the test's `import.meta.filename`; the test must run all returned blocks */
export function blocksRunBy(testFile: string): DocumentedBlock[] {
  const name = relative(ROOT, testFile);
  const blocks = documentedPages().flatMap(readBlocks);
  return blocks.filter(({ runBy }) => runBy === name);
}

/** A code span in the text of a page. */
export interface DocumentedSpan {
  page: string;
  text: string;
}

export function codeSpans(pages: readonly string[]): DocumentedSpan[] {
  return pages.flatMap((page) =>
    [...withoutBlocks(readFileSync(join(ROOT, page), "utf8")).matchAll(/`([^`\n]+)`/g)].map(
      ([, text = ""]) => ({ page, text }),
    ),
  );
}

export function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^\s*(`{3,})[^\n]*\n[\s\S]*?^\s*\1\s*$/gm, "");
}
