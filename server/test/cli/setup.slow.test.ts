import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { temporaryFolder } from "../support/service.ts";

const SUBTEXT = join(import.meta.dirname, "../../bin/subtext.js");

/** Runs a command with these lines as its standard input. */
function run(dataFolder: string, args: string[], input: string[] = []) {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    DATA_DIR: dataFolder,
    MODEL_DOWNLOAD: "off",
  };
  return new Promise<{ exitCode: number; out: string; err: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [SUBTEXT, ...args],
      { cwd: dataFolder, env },
      (error, out, err) => resolve({ exitCode: error === null ? 0 : Number(error.code), out, err }),
    );
    child.stdin?.end(input.map((line) => `${line}\n`).join(""));
  });
}

test("`setup` creates the owner and the first environment once, and does not print the password", async () => {
  const folder = await temporaryFolder();
  await cp(inject("madeDataFolder"), folder, { recursive: true });
  const password = "a long password";
  const unanswered = await run(folder, ["setup"], ["Olive"]);
  expect([unanswered.exitCode, unanswered.out]).toEqual([1, ""]);
  expect(unanswered.err).toContain('There is no answer to "Email".');

  const { exitCode, out, err } = await run(
    folder,
    ["setup", "--email", "olive@subtext.example"],
    ["Olive", password, "", ""],
  );
  expect(out).toMatch(/^owner +olive@subtext.example\nenvironment +Production\ntranscription +on\nnext /);
  expect([exitCode, out + err]).toEqual([0, expect.not.stringContaining(password)]);
  const { operators } = JSON.parse((await run(folder, ["operators", "list", "--json"])).out);
  expect(operators).toMatchObject([{ name: "Olive", email: "olive@subtext.example", role: "owner" }]);
  const environments = JSON.parse((await run(folder, ["env", "list", "--json"])).out);
  expect(environments).toMatchObject([{ name: "Production", aiTranscription: true }]);

  const again = await run(folder, ["setup"], ["Mallory", "mallory@subtext.example", password]);
  expect(again).toMatchObject({ exitCode: 1, out: "", err: expect.stringContaining("set up already") });
});
