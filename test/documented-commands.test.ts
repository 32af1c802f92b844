import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PUBLISHED_NAMES, RUNTIME_PREFIX } from "../packaging/names.ts";
import { PLATFORMS } from "../packaging/speech-parts.ts";
import { codeSpans, documentedPages, OTHER_PAGES, readBlocks } from "./support/documented-blocks.ts";
import { findCallFault, findCalls, findOptionFaults } from "./support/documented-commands.ts";

const ROOT = join(import.meta.dirname, "..");
const pages = [...documentedPages(), ...OTHER_PAGES].filter((page) => page !== "CHANGELOG.md");

describe("the README and the docs", () => {
  test("call only commands that exist, with their own options and arguments", () => {
    const texts = [...codeSpans(pages), ...pages.flatMap(readBlocks)];
    const calls = texts.flatMap(({ page, text }) => findCalls(text).map((call) => ({ page, call })));
    expect(calls.length).toBeGreaterThan(80);
    const faults = calls.map(({ page, call }) => ({ page, fault: findCallFault(call) }));
    expect(faults.filter(({ fault }) => fault !== null)).toEqual([]);
  });

  test("name only options of the command beside them", () => {
    const faults = pages
      .filter((page) => page !== "docs/cli.md")
      .flatMap((page) =>
        findOptionFaults(readFileSync(join(ROOT, page), "utf8")).map((fault) => `${page}: ${fault}`),
      );
    expect(faults).toEqual([]);
  });

  test("name the program as it is installed, because one sentence says how to start it elsewhere", () => {
    const texts = [...codeSpans(pages), ...pages.flatMap(readBlocks)];
    const withNpx = texts.filter(({ text }) => /npx subtext(?:-speech)? \S/.test(text));
    expect(withNpx).toEqual([]);
  });
});

test("shell commands use only programs and options that macOS has as well", () => {
  const blocks = pages.flatMap(readBlocks).filter(({ language }) => ["", "sh"].includes(language));
  // Commands with sudo are for Linux services.
  const portable = blocks.filter(({ text }) => !/^sudo /m.test(text.replaceAll(/&& sudo .*/g, "")));
  const linuxOnly =
    /\bstat -c|(?<!openssl )\bbase64 -|\/proc\/|\bdate --|\bmkdir --|\breadlink -f|\bgrep -P|\bsed -i |\buuidgen/;
  expect(portable.length).toBeGreaterThan(30);
  expect(
    portable.filter(({ text }) => linuxOnly.test(text)).map(({ page, line }) => `${page}:${line}`),
  ).toEqual([]);
});

describe("instructions for the installation", () => {
  const texts = [...codeSpans(pages), ...pages.flatMap(readBlocks)];

  test("use the published names of the packages", () => {
    const names = texts.flatMap(({ page, text }) =>
      [...text.matchAll(/\bsubtext-transcription[\w-]*/g)].map(([name]) => ({
        page,
        name: name.replace(/-\d.*/, ""),
      })),
    );
    expect(names.length).toBeGreaterThan(3);
    const runtimes = PLATFORMS.map((platform) => RUNTIME_PREFIX + platform);
    const published = [...Object.values(PUBLISHED_NAMES), ...runtimes];
    expect(names.filter(({ name }) => !published.includes(name))).toEqual([]);
    const install = /\bnpm install (?:--\S+ )*(?!--)([\w@-][^\s`]*)/g;
    const installed = texts.flatMap(({ text }) => [...text.matchAll(install)].map(([, name = ""]) => name));
    expect(installed).toContain(PUBLISHED_NAMES["@subtext/server"]);
    expect(installed.filter((name) => name.startsWith("@subtext/"))).toEqual([]);
  });

  test("use npm ci and npm start only in a clone", () => {
    const sections = documentedPages()
      .filter((page) => !page.startsWith("docs/decisions/"))
      .flatMap((page) => readFileSync(join(ROOT, page), "utf8").split(/^(?=#{1,4} )/m));
    const forClones = sections.filter((section) => /`npm (?:ci|start)|^npm (?:ci|start)/m.test(section));
    expect(forClones.length).toBeGreaterThan(2);
    expect(forClones.filter((section) => !/\bclone\b/i.test(section))).toEqual([]);
  });
});

describe("the messages of the service and the command line", () => {
  const sources = ["server/src", "speech/src"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => ({ file: `${folder}/${name}`, text: readFileSync(join(ROOT, folder, name), "utf8") })),
  );

  test("name only commands that exist, with their own options", () => {
    const calls = sources.flatMap(({ text }) =>
      [...text.matchAll(/\bcommandLine\(["`]([^"`]+)["`]\)/g)].map(([, words = ""]) => `subtext ${words}`),
    );
    expect(calls.length).toBeGreaterThan(20);
    expect(
      calls
        .flatMap(findCalls)
        .map(findCallFault)
        .filter((fault) => fault !== null),
    ).toEqual([]);
  });

  test("do not assume how the program was started", () => {
    const lines = sources.flatMap(({ file, text }) =>
      text.split("\n").map((line) => ({ file, line: line.trim() })),
    );
    const assumed = lines.filter(({ line }) => /npx subtext/.test(line) && !/^(\*|\/[*/])/.test(line));
    expect(assumed).toEqual([]);
  });
});

describe("the check of commands", () => {
  const faultsOf = (code: string) => findCalls(code).map(findCallFault);

  test.each([
    ["subtext keys make", "subtext keys has no command make"],
    ["npx subtext doctr", "subtext has no command doctr"],
    ["npx subtext-transcription doctor --file", "--file is not an option of subtext doctor"],
    ["DATA_DIR=/srv subtext restore one two", "subtext restore takes no two"],
    [
      "docker compose exec subtext subtext backup --forced /backups",
      "--forced is not an option of subtext backup",
    ],
    ["docker compose run --rm subtext restor /backups", "subtext has no command restor"],
    ["sh -c 'cd /etc/subtext && subtext env liste'", "subtext env has no command liste"],
    ["subtext serve \\\n  --roles api", "--roles is not an option of subtext serve"],
    ["subtext-speech -osrt talk.mp4", "-osrt is not an option of subtext-speech"],
    [
      "export KEY=…   # subtext keys create --environment A",
      "--environment is not an option of subtext keys create",
    ],
  ])("reports %j", (code, fault) => {
    expect(faultsOf(code)).toEqual([fault]);
  });

  test.each([
    ["`subtext doctor` checks; with `--force`, more.", "--force is not an option of subtext doctor"],
    ["With `-osrt`, `subtext-speech` writes captions.", "-osrt is not an option of subtext-speech"],
    ["| `subtext env set` | `--retention` |", "--retention is not an option of subtext env set"],
    [
      "## One\n\n```sh\nsubtext move\n```\n\n## Two\n\nAdd `--dry`.",
      "--dry is not an option of subtext move",
    ],
    ["Run `npm run bench:accuracy` with `--quik`.", "--quik is not an option of npm run bench:accuracy"],
    ["Add `--files`.", "--files is not an option of a command"],
  ])("reports an option beside the wrong command: %j", (markdown, fault) => {
    expect(findOptionFaults(markdown)).toEqual([fault]);
    expect(findOptionFaults("`subtext doctor` checks; with `--files`, also files.")).toEqual([]);
  });

  test.each([
    "npx subtext doctor --files --json",
    "subtext keys create --env Production --permissions create_video",
    "subtext transcribe one.mp4 two.mp4 --force | cat",
    "subtext-speech models pull whisper-tiny",
    "docker compose exec subtext subtext --version",
    "sudo systemctl enable --now subtext",
    "docker compose exec subtext node --version",
  ])("accepts %j", (code) => {
    expect(faultsOf(code).filter((fault) => fault !== null)).toEqual([]);
  });
});
