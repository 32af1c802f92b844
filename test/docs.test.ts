import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { PERMISSIONS } from "@subtext/client/contract/permission";
import { describe, expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { OLDEST_NODE } from "../packaging/build.ts";
import { findProseFaults } from "../scripts/check-prose.ts";
import { renderReference } from "../scripts/write-reference.ts";
import { APP_ERRORS } from "../server/src/lib/errors.ts";
import { readContents } from "../site/src/contents.ts";
import { slugOf, unlinkSources } from "../site/src/markdown.ts";
import {
  codeSpans,
  documentedPages,
  OTHER_PAGES,
  readBlocks,
  withoutBlocks,
} from "./support/documented-blocks.ts";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const pages = documentedPages();
/** Names from other programs, placeholders, and a misspelled setting in an example of an error message. */
const FOREIGN_NAMES = new Set([
  "MY_VIDEO_TRANSCRIPTION_GENERATED",
  "SPEECH_SERVER_IMAGE",
  "BACKUP_DONE_URL",
  "BACKUP_FAILED_URL",
  "ENDPOINT_ID",
  "POSTGRES_PASSWORD",
  "VIDEO_ID",
  "WEBHOOK_ID",
  "WEBHOOK_SIGNATURE",
  "WEBHOOK_TIMESTAMP",
  "cpu_shares",
  "credentials_file",
  "env_01k",
  "job_name",
  "scrape_configs",
  "static_configs",
  "subtext_before",
  "transcription_01k",
  "video_01k",
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
  // A table of Kysely's migrator.
  "kysely_migration_lock",
  // Volumes of Compose projects.
  "subtext_data",
  "restored_data",
  // The external metric of an autoscaler.
  "subtext_recordings",
]);

describe("a code block of the README and the docs", () => {
  const blocks = pages.flatMap(readBlocks);
  const where = ({ page, line }: { page: string; line: number }) => `${page}:${line}`;

  test("says which test runs it, or why none does", () => {
    expect(blocks.length).toBeGreaterThan(40);
    const unmarked = blocks.filter(({ runBy, notRunBecause }) => runBy === null && notRunBecause === null);
    expect(unmarked.map(where)).toEqual([]);
    const terse = blocks.filter(({ notRunBecause }) => notRunBecause !== null && notRunBecause.length < 15);
    expect(terse.map(where)).toEqual([]);
  });

  test("is read by the test that its comment names", () => {
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

test("the README fits on a screen: one picture, and three figures next to programs of the same run", () => {
  const readme = read("README.md");
  expect(readme.split("\n").length).toBeLessThan(75);
  expect(readme.match(/^!\[/gm)).toHaveLength(1);
  const figures = readme.slice(readme.indexOf("generated: figures"), readme.indexOf("end of generated"));
  const rows = [...figures.matchAll(/^\|(.*)\|$/gm)].map(([, row = ""]) => row.split("|"));
  expect(rows.slice(2)).toHaveLength(3);
  expect(
    rows
      .slice(2)
      .flat()
      .filter((cell) => cell.trim() === ""),
  ).toEqual([]);
});

describe("the README and the docs", () => {
  test("link only to files and headings that exist", () => {
    const broken: string[] = [];
    for (const page of [...pages, ...OTHER_PAGES]) {
      for (const [, href = ""] of withoutBlocks(read(page)).matchAll(/\]\(([^()\s]+)\)/g)) {
        if (/^[a-z]+:/.test(href)) continue;
        const [path = "", anchor] = href.split("#");
        const target = path === "" ? page : normalize(join(dirname(page), path));
        const found =
          existsSync(join(ROOT, target)) && (anchor === undefined || findAnchors(target).includes(anchor));
        if (!found) broken.push(`${page} → ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test("are each listed once on the index page", () => {
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

  test("name the Node.js versions that the packages and a clone require", () => {
    const named = (page: string) =>
      [...read(page).matchAll(/\bNode(?:\.js)?\s(\d+(?:\.\d+)?)\sor\snewer/g)].map(
        ([, version = ""]) => version,
      );
    const clone = packageJson.engines.node.replace(">=", "");
    const current = [...pages, ...OTHER_PAGES].filter((page) => page !== "CHANGELOG.md");
    const all = [...current, "server/bin/subtext.js", "speech/bin/subtext-speech.js"].flatMap(named);
    expect(new Set(all)).toEqual(new Set([OLDEST_NODE, clone]));
    expect([...named("README.md"), ...named("server/README.md")]).toEqual([clone, OLDEST_NODE]);
  });

  test("name settings, codes and metrics only as the sources spell them", () => {
    const names = /(?<![\w$])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?!\w)/g;
    const known = new Set(sourcesText().match(names));
    const blocks = pages.flatMap(readBlocks).filter(({ language }) => /^(|sh|ya?ml|json)$/.test(language));
    const unknown = [...codeSpans(pages), ...blocks].flatMap(({ page, text }) =>
      (text.match(names) ?? [])
        .filter((name) => !FOREIGN_NAMES.has(name) && !known.has(name.replace(/_FILE$/, "")))
        .map((name) => `${page}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  test("name tests that exist, on the security page", () => {
    const files = ["server", "speech"].flatMap((folder) =>
      readdirSync(join(ROOT, folder, "test"), { recursive: true, encoding: "utf8" }),
    );
    const rows = read("docs/security.md").matchAll(/^\|(?:[^|]*\|){2}([^|]*)\|$/gm);
    const names = [...rows].flatMap(([, tests = ""]) =>
      [...tests.matchAll(/`([\w/-]+)`/g)].map(([, name]) => name!),
    );
    expect(names.length).toBeGreaterThan(30);
    const exists = (name: string) =>
      files.some((file) => `/${file.replace(/(\.slow)?\.(test|browser)\.ts$/, "")}`.endsWith(`/${name}`));
    expect(names.filter((name) => !exists(name))).toEqual([]);
  });

  test("give each error code the HTTP status that the sources give it", () => {
    const pairs = pages.flatMap((page) =>
      [...read(page).matchAll(/\b([45]\d\d) `([a-z]+(?:_[a-z]+)+)`/g)].map(([, status, code]) => ({
        page,
        code: code!,
        status: Number(status),
      })),
    );
    expect(pairs.length).toBeGreaterThan(20);
    const statuses: Record<string, { status: number } | undefined> = APP_ERRORS;
    expect(pairs.filter(({ code, status }) => statuses[code]?.status !== status)).toEqual([]);
  });

  test("name only npm scripts and permissions that exist", () => {
    const text = [...pages, ...OTHER_PAGES].map(read).join("\n");
    const scripts = [...text.matchAll(/npm run (?:--silent )?([a-z][\w:-]*)/g)].map(([, name]) => name!);
    const manifests = ["package.json", ...packageJson.workspaces.map((name) => `${name}/package.json`)];
    const known = manifests.flatMap((path) => Object.keys(JSON.parse(read(path)).scripts ?? {}));
    expect(scripts.length).toBeGreaterThan(5);
    expect(scripts.filter((name) => !known.includes(name))).toEqual([]);
    const permissions = [...text.matchAll(/--permissions ([a-z_,]+)/g)].flatMap(([, list = ""]) =>
      list.split(","),
    );
    expect(permissions.length).toBeGreaterThan(2);
    expect(permissions.filter((name) => !PERMISSIONS.some((permission) => permission === name))).toEqual([]);
  });

  test("name only project files that exist", () => {
    const paths = codeSpans([...pages, "CONTRIBUTING.md"]).filter(
      ({ page, text }) =>
        /^[\w.-]+(\/[\w.-]+)+\.(tsx?|md|json|yaml|yml|py|sh)$/.test(text) ||
        (page === "CONTRIBUTING.md" && /^[\w.-]+(\/[\w.-]+)*\/$/.test(text)),
    );
    expect(paths.length).toBeGreaterThan(40);
    const missing = paths.filter(
      ({ page, text }) =>
        ![text, join(dirname(page), text), join("server/src", text), join("client/src", text)].some((path) =>
          existsSync(join(ROOT, path)),
        ),
    );
    expect(missing.map(({ page, text }) => `${page}: ${text}`)).toEqual([]);
  });
});

test("the architecture page names every workspace and every folder of the server", () => {
  const page = read("docs/architecture.md");
  const folders = readdirSync(join(ROOT, "server/src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(folders.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  expect(packageJson.workspaces.filter((name) => !page.includes(`\`${name}/\``))).toEqual([]);
});

test("the lint of prose reports phrases and long sentences, but not code", () => {
  const long = `${"word ".repeat(46)}end.`;
  expect(findProseFaults(`You can not simply do this.\n\n${long}`)).toEqual([
    '"can not": write cannot',
    '"simply": write nothing instead',
    `more than 45 words: ${long}`,
  ]);
  const code = `\`\`\`sh\necho can not\n\`\`\`\n`;
  expect(findProseFaults(`${code}| ${long} |\n\nA \`can not\` in code.`)).toEqual([]);
});

test("the site links the pages of docs/, but no other files of the repository", () => {
  const typesOf = (relativePath: string, href: string): string[] => {
    const link = {
      type: "link_open",
      tag: "a",
      content: "",
      children: null,
      attrGet: () => href,
      attrSet() {},
    };
    const children = [link, { ...link, type: "text" }, { ...link, type: "link_close" }];
    const tokens = [{ ...link, type: "inline", children }];
    unlinkSources({
      core: { ruler: { push: (_name, rule) => rule({ tokens, env: { relativePath } }) } },
    });
    return children.map(({ type }) => type);
  };
  const linked = ["link_open", "text", "link_close"];
  expect(typesOf("decisions/0068-separate-channels.md", "../calls.md#when-channels-are-separate")).toEqual(
    linked,
  );
  expect(typesOf("api.md", "https://example.com/../a")).toEqual(linked);
  expect(typesOf("backup.md", "../deploy/systemd/subtext-backup.service")).toEqual(["text", "text", "text"]);
  expect(typesOf("decisions/0001-x.md", "../../README.md")).toEqual(["text", "text", "text"]);
});

/** Returns the anchors that GitHub generates for the headings of a page. */
function findAnchors(page: string): string[] {
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
      // The docs contain its descriptions.
      .filter((name) => name !== "config/settings.ts")
      .map((name) => `${folder}/${name}`),
  );
  return ["package.json", ...files].map(read).join("\n");
}
