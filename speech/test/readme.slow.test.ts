import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PUBLISHED_NAMES } from "../../packaging/names.ts";
import { KNOWN_MODELS } from "../src/models/catalog.ts";
import type { ModelHub } from "./support/model-hub.ts";
import { startTinyModelHub } from "./support/tiny-model-hub.ts";

const run = promisify(execFile);
const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const readme = readFileSync(fromHere("../README.md"), "utf8");
const blocks = [...readme.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = "", code = ""]) => ({
  language,
  code,
}));
const inLanguage = (language: string) =>
  blocks.filter((block) => block.language === language).map(({ code }) => code);
const TINY = KNOWN_MODELS[0]!;

let folder: string;
let hub: ModelHub;
let env: NodeJS.ProcessEnv;

/** A folder as a reader of the README has it: with a recording, and with the package installed. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "speech-readme-"));
  copyFileSync(fromHere("fixtures/vad/the-children-late.mp4"), join(folder, "talk.mp4"));
  const modules = fromHere("../../node_modules");
  symlinkSync(modules, join(folder, "node_modules"));
  hub = await startTinyModelHub(TINY);
  env = {
    PATH: [join(modules, ".bin"), process.env.PATH].join(delimiter),
    XDG_CACHE_HOME: join(folder, "cache"),
    MODEL_HUB_URL: hub.url,
  };
});
afterAll(async () => {
  await hub.stop();
  rmSync(folder, { recursive: true });
});

describe("the README", () => {
  test("has blocks of the kinds that are run here alone", () => {
    expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(["sh", "js", "json"]));
  });

  test.each(inLanguage("js").map((code, index) => [index + 1, code]))(
    "has a program that runs: %i",
    async (index, code) => {
      const path = join(folder, `program-${index}.mjs`);
      writeFileSync(path, String(code));
      const { stdout, stderr } = await run(process.execPath, [path], { cwd: folder, env });
      expect(stderr).toBe("");
      expect(stdout).toMatch(index === 3 ? /word: 'Saluton!'/ : /\ben\b/);
    },
  );

  test("names the published package", () => {
    expect(inLanguage("sh")[0]).toBe(`npm install --global ${PUBLISHED_NAMES["@subtext/speech"]}\n`);
  });

  test("has commands that run, and shows what --json prints", { timeout: 240_000 }, async () => {
    const script = ["set -e", ...inLanguage("sh").slice(1)].join("\n");
    const { stdout } = await run("sh", ["-c", script], { cwd: folder, env });
    expect(stdout).toContain("whisper-tiny removed");
    const lines = stdout.split("\n").filter((line) => line.startsWith('{"file"'));
    const [shown, printed] = [inLanguage("json"), lines].map(([json = ""]) => JSON.parse(json));
    expect(Object.keys(printed)).toEqual(Object.keys(shown));
    expect(Object.keys(printed.words[0])).toEqual(Object.keys(shown.words[0]));
    expect(Object.keys(printed.languageSegments[0])).toEqual(Object.keys(shown.languageSegments[0]));
    expect(printed.words[0].word).toBe(shown.words[0].word);
    expect([inLanguage("json"), lines].map(({ length }) => length)).toEqual([1, 1]);
  });
});
