import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decoders } from "../support/media-decoding.ts";
import { changed, cutTo, damaged, fixture, noise, written } from "../support/media-files.ts";

const signal = new AbortController().signal;
/** The background priority makes decoders slow on a busy machine. */
const SLOW = { timeout: 180_000 };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "subtext-poster-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Reads the size from a JPEG's frame header. */
function sizeOf(jpeg: Buffer): { width: number; height: number } {
  expect(jpeg.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
  expect(jpeg.subarray(-2)).toEqual(Buffer.from([0xff, 0xd9]));
  const header = jpeg.indexOf(Buffer.from([0xff, 0xc0, 0, 17]));
  return { height: jpeg.readUInt16BE(header + 5), width: jpeg.readUInt16BE(header + 7) };
}

describe.each(decoders)("the poster of %s", (_, decoder) => {
  const posterOf = (path: string, durationSeconds: number | null = null) =>
    decoder.poster(path, { durationSeconds, signal });

  test("is the first picture that has faded in after the black seconds", SLOW, async () => {
    const { hasVideo, frame } = await posterOf(fixture("poster-after-fade.mp4"));
    expect(hasVideo).toBe(true);
    expect(sizeOf(frame!)).toEqual({ width: 320, height: 180 });
    // Half faded in, the picture takes less than 4 kB.
    expect(frame!.length).toBeGreaterThan(4_500);
    expect(frame!.length).toBeLessThan(20_000);
  });

  test("is from later in the video if the first seconds are black", SLOW, async () => {
    const path = fixture("poster-late.mp4");
    expect((await posterOf(path, 24)).frame?.length).toBeGreaterThan(3_000);
    expect(await posterOf(path, null)).toEqual({ hasVideo: true, frame: null });
  });

  test("is upright, whether a portrait video was recorded upright or is rotated", SLOW, async () => {
    for (const name of ["poster-portrait.webm", "poster-rotated.mp4"]) {
      const { frame } = await posterOf(fixture(name));
      expect(sizeOf(frame!)).toEqual({ width: 180, height: 320 });
    }
  });

  test("is missing if every picture is black", SLOW, async () => {
    expect(await posterOf(fixture("mp4-aac-beeps.mp4"), 3)).toEqual({ hasVideo: true, frame: null });
  });

  test("is missing for sound, even with a cover", SLOW, async () => {
    for (const name of ["mp3-beeps.mp3", "cover-art-beeps.mp3", "m4a-aac-beeps.m4a", "ogg-opus-beeps.ogg"]) {
      expect(await posterOf(fixture(name))).toEqual({ hasVideo: false, frame: null });
    }
  });

  test("is missing for encrypted video and for frames that are too large to decode", SLOW, async () => {
    for (const name of ["encrypted.mp4", "huge-frames.mp4"]) {
      expect(await posterOf(fixture(name))).toEqual({ hasVideo: true, frame: null });
    }
  });

  test("is found in the part of a damaged or truncated file that can be decoded", SLOW, async () => {
    const cut = await changed(folder, "poster-after-fade.mp4", cutTo(0.8));
    expect((await posterOf(cut)).frame?.length).toBeGreaterThan(3_000);
    const broken = await changed(folder, "poster-late.mp4", damaged(0.05, 0.5));
    expect(await posterOf(broken, 24)).toMatchObject({ hasVideo: true });
  });

  test("is an error for files that are not media", SLOW, async () => {
    const path = await written(folder, "noise.mp4", noise(100_000));
    await expect(posterOf(path)).rejects.toMatchObject({ code: "unreadable_media" });
    await expect(posterOf(fixture("picture.jpg"))).rejects.toMatchObject({ code: "unsupported_media" });
  });

  test("is not looked for any longer after an abort", SLOW, async () => {
    const abort = new AbortController();
    const poster = decoder.poster(fixture("huge-frames.mp4"), { durationSeconds: 1, signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(poster).rejects.toThrow("enough");
  });
});
