import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { PERMISSIONS } from "@subtext/client/contract/permission";
import { describe, expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { renderReference } from "../scripts/write-reference.ts";
import { runCommandLine } from "../server/src/cli/program.ts";
import { readContents } from "../site/src/contents.ts";
import { slugOf } from "../site/src/markdown.ts";
import { blocksOf, documentedPages } from "./support/documented-blocks.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const pages = documentedPages();
const others = [
  "CONTRIBUTING.md",
  "client/README.md",
  "speech/README.md",
  "captions/README.md",
  "examples/README.md",
];

/** Of PostgreSQL, proxies and other programs; and a misspelled setting that shows the error message. */
const OTHERS_NAMES = new Set([
  "env_file",
  "max_connections",
  "pg_dump",
  "pg_restore",
  "pg_stat_activity",
  "to_tsvector",
  "websearch_to_tsquery",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "DATABASE_URI",
  "hf_EXAMPLE",
  // Computed by a metrics adapter.
  "subtext_recordings",
]);

describe("a code block of the README and the docs", () => {
  const blocks = pages.flatMap(blocksOf);
  const where = ({ page, line }: { page: string; line: number }) => `${page}:${line}`;

  test("says which test runs it, or why none does", () => {
    expect(blocks.length).toBeGreaterThan(40);
    const unmarked = blocks.filter(({ runBy, notRunBecause }) => runBy === null && notRunBecause === null);
    expect(unmarked.map(where)).toEqual([]);
    const terse = blocks.filter(({ notRunBecause }) => notRunBecause !== null && notRunBecause.length < 15);
    expect(terse.map(where)).toEqual([]);
  });

  test("that is run, is handed to the test that its comment names", () => {
    for (const block of blocks) {
      if (block.runBy === null) continue;
      expect([where(block), existsSync(join(ROOT, block.runBy))]).toEqual([where(block), true]);
      const runner = read(block.runBy);
      if (block.runBy.endsWith(".ts"))
        expect(runner, where(block)).toContain("blocksRunBy(import.meta.filename)");
      else
        for (const [, script] of block.text.matchAll(/npm (?:run )?(\w+)/g))
          expect(runner, where(block)).toMatch(
            new RegExp(`npm[^\n]*\\b${script}\\b|run_tests[^\n]*\\b${script}\\b`),
          );
    }
  });
});

describe("the README and the docs", () => {
  test("have links that lead to files and headings that there are", () => {
    const lost: string[] = [];
    for (const page of [...pages, ...others]) {
      for (const [, href = ""] of withoutBlocks(read(page)).matchAll(/\]\(([^()\s]+)\)/g)) {
        if (/^[a-z]+:/.test(href)) continue;
        const [path = "", anchor] = href.split("#");
        const target = path === "" ? page : normalize(join(dirname(page), path));
        const found =
          existsSync(join(ROOT, target)) && (anchor === undefined || anchorsOf(target).includes(anchor));
        if (!found) lost.push(`${page} → ${href}`);
      }
    }
    expect(lost).toEqual([]);
  });

  test("are listed in the index page, each once", () => {
    const listed = readContents(read("docs/index.md")).flatMap(({ links }) => links.map(({ name }) => name));
    const names = pages.map((page) => /^docs\/([\w-]+|decisions\/README)\.md$/.exec(page)?.[1]);
    const expected = names.filter((name) => name !== undefined && !["index", "decisions"].includes(name));
    expect(listed.sort()).toEqual(expected.sort());
  });

  test.each([...renderReference()])(
    "have the generated text in %s (npm run docs:reference)",
    (path, text) => {
      expect(read(path)).toBe(text);
    },
  );

  test("name settings, codes and metrics only as the sources spell them", () => {
    const sources = sourcesText();
    const unknown = codeSpans().filter(
      ({ text }) =>
        /^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)+$/.test(text) &&
        !OTHERS_NAMES.has(text) &&
        !sources.includes(text.replace(/_FILE$/, "")),
    );
    expect(unknown.map(({ page, text }) => `${page}: ${text}`)).toEqual([]);
  });

  test("name scripts of npm and permissions that there are", () => {
    const text = [...pages, ...others].map(read).join("\n");
    const scripts = [...text.matchAll(/npm run (?:--silent )?([a-z][\w:-]*)/g)].map(([, name]) => name!);
    const manifests = ["package.json", ...packageJson.workspaces.map((name) => `${name}/package.json`)];
    const known = manifests.flatMap((path) => Object.keys(JSON.parse(read(path)).scripts ?? {}));
    expect(scripts.length).toBeGreaterThan(5);
    expect(scripts.filter((name) => !known.includes(name))).toEqual([]);
    const asked = [...text.matchAll(/--permissions ([a-z_,]+)/g)].flatMap(([, list = ""]) => list.split(","));
    expect(asked.length).toBeGreaterThan(2);
    expect(asked.filter((name) => !PERMISSIONS.some((permission) => permission === name))).toEqual([]);
  });

  test("name commands and options of `subtext` that there are", async () => {
    const texts = [
      ...codeSpans().map(({ text }) => text),
      ...pages.flatMap(blocksOf).map(({ text }) => text),
    ];
    const lines = texts.flatMap((text) => text.split("\n")).map((line) => line.replace(/\s#.*$/, ""));
    const calls = lines.flatMap((line) =>
      [...line.matchAll(/npx subtext ([a-z][^|)`]*)/g)].map(([, call = ""]) => call),
    );
    expect(calls.length).toBeGreaterThan(10);
    const faults: string[] = [];
    for (const call of new Set(calls)) {
      const words = call.trim().split(/\s+/);
      const help = await helpOf(words);
      if (help === null) faults.push(call);
      const options = words.filter((word) => /^--[a-z]/.test(word)).map((word) => word.split("=")[0]!);
      for (const option of options) if (!help?.includes(option)) faults.push(`${option} of ${call}`);
    }
    expect(faults).toEqual([]);
  });

  test("name files of the project that there are", () => {
    const paths = codeSpans([...pages, "CONTRIBUTING.md"]).filter(
      ({ page, text }) =>
        /^[\w.-]+(\/[\w.-]+)+\.(tsx?|md|json|yaml|yml|py|sh)$/.test(text) ||
        (page === "CONTRIBUTING.md" && /^[\w.-]+(\/[\w.-]+)*\/$/.test(text)),
    );
    expect(paths.length).toBeGreaterThan(40);
    const lost = paths.filter(
      ({ page, text }) =>
        ![text, join(dirname(page), text), join("server/src", text), join("client/src", text)].some((path) =>
          existsSync(join(ROOT, path)),
        ),
    );
    expect(lost.map(({ page, text }) => `${page}: ${text}`)).toEqual([]);
  });
});

/** Phrases of the former private vocabulary, which cspell cannot flag, and what to write instead. */
const PHRASES: [RegExp, string][] = [
  [/\bcan not\b/i, "cannot"],
  [/\b(is|are|was|were) told\b/i, "is reported, is detected"],
  [/\b(is|are) (let be|left alone)\b/i, "is ignored, is left unchanged"],
  [/\b(makes?|gives?) way\b/i, "yields"],
  [/\b(goes|went) on\b/i, "continues, resumes"],
  [/\bas many as may be\b/i, "the limit is reached"],
];
const MAX_SENTENCE_WORDS = 45;

describe("the prose of the README, the docs and CONTRIBUTING", () => {
  const texts = [...pages, ...others].map((page) => ({ page, text: proseOf(page) }));

  test("uses standard phrases", () => {
    // Decision 0053 quotes a phrase.
    const faults = texts
      .filter(({ page }) => page !== "docs/decisions/0053-flagged-words.md")
      .flatMap(({ page, text }) =>
        PHRASES.filter(([phrase]) => phrase.test(text)).map(
          ([phrase, term]) => `${page}: ${phrase}: ${term}`,
        ),
      );
    expect(faults).toEqual([]);
  });

  test(`has sentences of at most ${MAX_SENTENCE_WORDS} words`, () => {
    const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
    const sentences = texts.flatMap(({ page, text }) =>
      text
        .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
        .flatMap((paragraph) => [...segmenter.segment(paragraph.replaceAll(/\s+/g, " "))])
        .map(({ segment }) => ({ page, segment: segment.trim() })),
    );
    expect(sentences.length).toBeGreaterThan(1000);
    const long = sentences.filter(({ segment }) => segment.split(" ").length > MAX_SENTENCE_WORDS);
    expect(long.map(({ page, segment }) => `${page}: ${segment}`)).toEqual([]);
  });
});

/** Without code blocks, comments and tables; each code span is one word. */
function proseOf(page: string): string {
  return withoutBlocks(read(page))
    .replaceAll(/<!--[\s\S]*?-->/g, "")
    .replaceAll(/^\s*\|.*$/gm, "")
    .replaceAll(/`[^`]*`/g, "Code");
}

function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^\s*(`{3,})[^\n]*\n[\s\S]*?^\s*\1\s*$/gm, "");
}

function codeSpans(names = pages): { page: string; text: string }[] {
  return names.flatMap((page) =>
    [...withoutBlocks(read(page)).matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => ({ page, text })),
  );
}

/** Of headings, as GitHub spells them, and of table rows that the service gives anchors. */
function anchorsOf(page: string): string[] {
  const counts = new Map<string, number>();
  return [...withoutBlocks(read(page)).matchAll(/^#{1,6} +(.+)$/gm)].map(([, heading = ""]) => {
    const slug = slugOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", ""));
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

function sourcesText(): string {
  const folders = [
    "server/src",
    "client/src",
    "speech/src",
    "captions/src",
    "dashboard/src",
    "deploy",
    "examples",
    "bench/src",
    "server/test/support",
  ];
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(tsx?|ya?ml|py|json)$/.test(name) && !name.includes("node_modules"))
      // Its descriptions are a part of the docs.
      .filter((name) => name !== "config/settings.ts")
      .map((name) => `${folder}/${name}`),
  );
  return ["package.json", ...files].map(read).join("\n");
}

/** The program's help for the command that the words begin with; null if there is none. */
async function helpOf(words: string[]): Promise<string | null> {
  let help = await printed(["--help"]);
  const path: string[] = [];
  for (const word of words) {
    const isCommand = /^[a-z][a-z-]*$/.test(word) && new RegExp(`^  ${word}\\b`, "m").test(commandsIn(help));
    if (!isCommand) {
      // A word after a command with subcommands must be one of them.
      if (commandsIn(help) !== "" && /^[a-z]/.test(word)) return null;
      break;
    }
    path.push(word);
    help = await printed([...path, "--help"]);
  }
  return path.length === 0 ? null : help;
}

function commandsIn(help: string): string {
  return /^Commands:\n((?: {2}.*\n?)*)/m.exec(help)?.[1]?.replace(/^ {2}help .*$/m, "") ?? "";
}

async function printed(args: string[]): Promise<string> {
  let text = "";
  const out = (more: string) => {
    text += more;
    return true;
  };
  await runCommandLine(args, { env: {}, out, err: out, errColumns: () => null });
  return text;
}
