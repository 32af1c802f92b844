import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MEDIA_TYPE_BYTES, mediaType } from "../../src/videos/media-type.ts";

const FIXTURES = join(import.meta.dirname, "../../../speech/test/fixtures/media");
const TYPES: Record<string, string | null> = {
  ".aac": "audio/aac",
  ".avi": "video/x-msvideo",
  ".flac": "audio/flac",
  ".jpg": null,
  ".m4a": "audio/mp4",
  ".mkv": "video/x-matroska",
  ".mov": "video/quicktime",
  ".mp3": "audio/mpeg",
  ".mp4": "video/mp4",
  ".mpegts": "video/mp2t",
  ".ogg": "audio/ogg",
  ".png": null,
  ".sh": null,
  ".wav": "audio/wav",
  ".webm": "video/webm",
};

test("every supported recording is recognized by its first bytes, and nothing else is", () => {
  const files = readdirSync(FIXTURES);
  expect(files.length).toBeGreaterThan(20);
  for (const name of files) {
    const first = readFileSync(join(FIXTURES, name)).subarray(0, MEDIA_TYPE_BYTES);
    expect({ name, type: mediaType(first) }).toEqual({ name, type: TYPES[/\.\w+$/.exec(name)![0]] });
  }
});

test("what a browser would execute is not a recording, in any encoding", () => {
  const hostile = "<!doctype html><script>alert(document.cookie)</script>".repeat(20);
  for (const text of [
    hostile,
    `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${hostile}`,
    "%PDF-1.7 ",
  ]) {
    expect(mediaType(Buffer.from(text))).toBeNull();
    expect(mediaType(Buffer.from(`\ufeff${text}`))).toBeNull();
    expect(mediaType(Buffer.from(`\ufeff${text}`, "utf16le"))).toBeNull();
  }
});

test("any bytes have a playable type or none", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
      expect(mediaType(Buffer.from(bytes)) ?? "video/x").toMatch(/^(?:video|audio)\/[\w-]+$/);
    }),
  );
});
