import { execFile } from "node:child_process";
import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readOnlyFolder } from "../support/read-only-folder.ts";
import { temporaryFolder } from "../support/service.ts";

const ROOT = join(import.meta.dirname, "../../..");

/** Runs `subtext transcribe` in a folder. */
function transcribe(cwd: string, ...args: string[]): Promise<{ exitCode: number; out: string; err: string }> {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    DATA_DIR: join(cwd, "data"),
  };
  const command = [join(ROOT, "server/bin/subtext.js"), "transcribe", ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, command, { cwd, env }, (error, out, err) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

test("`transcribe` writes captions, words and text next to a recording, and replaces no file", async () => {
  const folder = await temporaryFolder();
  await copyFile(join(ROOT, "demo/sample/sample.mp4"), join(folder, "talk.mp4"));
  await writeFile(join(folder, "notes.mp4"), "not a video");

  const { exitCode, out, err } = await transcribe(folder, "talk.mp4", "notes.mp4");
  expect(err).toMatch(/^subtext: notes\.mp4: unreadable_media: .*\n$/);
  expect([exitCode, out]).toEqual([1, "talk.vtt\ntalk.srt\ntalk.json\ntalk.txt\n"]);
  const read = (name: string) => readFile(join(folder, name), "utf8");
  const names = ["notes.mp4", "talk.json", "talk.mp4", "talk.srt", "talk.txt", "talk.vtt"];
  expect((await readdir(folder)).sort()).toEqual(names);
  const words = JSON.parse(await read("talk.json")) as { word: string }[];
  expect(words.length).toBeGreaterThan(50);
  const spoken = words.map(({ word }) => word).join(" ");
  expect((await read("talk.txt")).split(/\s+/).filter(Boolean).join(" ")).toBe(spoken);
  const srt = await read("talk.srt");
  const asVtt = srt.replaceAll(/^\d+\n(?=.* --> )/gm, "").replaceAll(/(\d\d),(\d{3})/g, "$1.$2");
  expect(`WEBVTT\n\n${asVtt}`).toBe(await read("talk.vtt"));

  const again = await transcribe(folder, "talk.mp4");
  expect(again).toEqual({
    exitCode: 1,
    out: "",
    err: "subtext: talk.vtt already exists. To replace it, use --force.\n",
  });
  const twins = await transcribe(folder, "a.mp4", "a.mov");
  const twinsError = "subtext: Two of the recordings would be transcribed to a.vtt.\n";
  expect(twins.err).toBe(twinsError);
  expect((await transcribe(folder, "--force", "a.mp4", "a.mov")).err).toBe(twinsError);
});

test("`transcribe` reports a folder that it cannot write to before it transcribes", async (context) => {
  const folder = await readOnlyFolder();
  if (folder === null) return context.skip("no file system can be mounted here");
  expect(await transcribe(await temporaryFolder(), join(folder, "talk.mp4"))).toEqual({
    exitCode: 1,
    out: "",
    err: `subtext: Transcripts are written next to the recordings, but ${folder} is not writable.\n`,
  });
});
