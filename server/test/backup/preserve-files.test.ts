import { appendFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyIfPresent, preserveFiles } from "../../src/backup/preserve-files.ts";
import { temporaryFolder } from "../support/service.ts";

test("a video is complete only if its recording and all its folders exist", async () => {
  const [from, to] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(from, "uploads"));
  await mkdir(join(from, "files"));
  const video = { videoId: "video", isUploaded: true, recording: "uploads/video", folders: ["files"] };
  expect(await preserveFiles(from, to, video)).toBe(false);
  await writeFile(join(from, "uploads/video"), "content");
  expect(await preserveFiles(from, to, video)).toBe(true);
  expect(await preserveFiles(from, to, { ...video, folders: ["files", "missing"] })).toBe(false);
});

test("a backup copies a recording that is still growing, and links one that is complete", async () => {
  const [from, to] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(from, "uploads"));
  const keep = async (recording: string, isUploaded: boolean) => {
    await writeFile(join(from, recording), "begun");
    await mkdir(join(to, "uploads"), { recursive: true });
    await preserveFiles(from, to, { videoId: "video", isUploaded, recording, folders: [] });
    if (!isUploaded) await copyIfPresent(from, to, recording);
    await appendFile(join(from, recording), ", and more");
    const isLinked = (await stat(join(from, recording))).ino === (await stat(join(to, recording))).ino;
    return [await readFile(join(to, recording), "utf8"), isLinked];
  };
  expect(await keep("uploads/growing", false)).toEqual(["begun", false]);
  expect((await keep("uploads/complete", true))[1]).toBe(true);
});
