import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** A fenced block of the README or of a page in `docs/`. */
export interface DocumentedBlock {
  /** From the project's folder. */
  page: string;
  line: number;
  language: string;
  text: string;
  /** The file that its comment names: `<!-- run by server/test/some.test.ts -->`. */
  runBy: string | null;
  /** Of `<!-- not run: … -->`. */
  notRunBecause: string | null;
}

/** The README and every page of `docs/`, from the project's folder. */
export function documentedPages(): string[] {
  const pages = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`);
  return ["README.md", ...pages.sort()];
}

/** All blocks of a page; the comment that marks one is on the last nonempty line before it. */
export function blocksOf(page: string): DocumentedBlock[] {
  const blocks: DocumentedBlock[] = [];
  let open: { block: DocumentedBlock; fence: string } | undefined;
  let mark = "";
  for (const [place, line] of readFileSync(join(ROOT, page), "utf8").split("\n").entries()) {
    const fence = /^\s*(`{3,})(\w*)\s*$/.exec(line);
    if (open) {
      if (fence && fence[2] === "" && fence[1] === open.fence) open = undefined;
      else open.block.text += `${line}\n`;
    } else if (fence) {
      const [, ticks = "", language = ""] = fence;
      const block = {
        page,
        line: place + 1,
        language,
        text: "",
        runBy: /^<!-- run by (\S+) -->$/.exec(mark)?.[1] ?? null,
        notRunBecause: /^<!-- not run: (.+) -->$/.exec(mark)?.[1] ?? null,
      };
      blocks.push(block);
      open = { block, fence: ticks };
      mark = "";
    } else if (line.trim() !== "") mark = line.trim();
  }
  if (open) throw new Error(`${page}:${open.block.line}: the block has no end`);
  return blocks;
}

/** @param testFile `import.meta.filename` of the test that is to run them; it has to run every one */
export function blocksRunBy(testFile: string): DocumentedBlock[] {
  const name = relative(ROOT, testFile);
  const blocks = documentedPages().flatMap(blocksOf);
  return blocks.filter(({ runBy }) => runBy === name);
}
