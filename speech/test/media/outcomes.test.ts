import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeAll, decoders, failure } from "../support/media-decoding.ts";
import {
  changed,
  cutTo,
  damaged,
  fixture,
  noise,
  noiseInMdat,
  referencing,
  unknownCodec,
  wav,
  withoutMoov,
  written,
} from "../support/media-files.ts";

const signal = new AbortController().signal;
let folder: string;
/** The target of hostile files; it must never receive a request. */
let canary: Server;
let canaryUrl: string;
let visits = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "subtext-media-"));
  canary = createServer((_, response) => {
    visits++;
    response.end();
  });
  await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
  canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise((resolve) => canary.close(resolve));
  await rm(folder, { recursive: true });
});

describe.each(decoders)("%s finds nothing to transcribe", (_, decoder) => {
  test("in a file without an audio track", async () => {
    expect(await decoder.probe(fixture("video-only.mp4"), signal)).toMatchObject({
      audioStream: null,
      duration: 3,
    });
  });

  test("in an audio track without samples", async () => {
    const { summary } = await decodeAll(decoder, fixture("no-samples.webm"));
    expect(summary).toEqual({ samples: 0, duration: 3, skipReason: "empty_audio_track", incomplete: false });
  });

  test.each(["silence-aac.mp4", "silence-opus.webm", "silence-vorbis.ogg", "silence-mp3.mp3"])(
    "in the digital silence of %s",
    async (name) => {
      const { summary } = await decodeAll(decoder, fixture(name));
      expect(summary).toMatchObject({ skipReason: "silent_audio_track", incomplete: false });
    },
  );

  test("in two hours of silence in 20 kB", async () => {
    const { summary } = await decodeAll(decoder, fixture("silence-2h.flac"));
    expect(summary).toMatchObject({
      skipReason: "silent_audio_track",
      samples: 7200 * 16_000,
      duration: 7200,
    });
  });

  test("but does in the hiss of a quiet room", async () => {
    const hiss = noise(24_000);
    const path = await written(
      folder,
      "hiss.wav",
      wav(1, 3, (at) => (hiss[Math.floor(at * 8000)]! - 128) / 1_000_000),
    );
    expect((await decodeAll(decoder, path)).summary.skipReason).toBeNull();
  });
});

describe.each(decoders)("%s decodes what is left of a damaged file and says so", (_, decoder) => {
  test.each([
    "mp4-aac-beeps.mp4",
    "webm-opus-beeps.webm",
    "recorder.webm",
    "flac-beeps.flac",
    "mp3-beeps.mp3",
  ])("%s cut off after 60 %", async (name) => {
    const { summary, onsets } = await decodeAll(decoder, await changed(folder, name, cutTo(0.6)));
    expect(summary).toMatchObject({ skipReason: null, incomplete: true });
    expect(onsets[0]).toBeCloseTo(0.5, 1);
  });

  test.each(["mp4-aac-beeps.mp4", "webm-opus-beeps.webm"])("%s with noise in its middle", async (name) => {
    const { summary, onsets } = await decodeAll(decoder, await changed(folder, name, damaged(0.5, 0.6)));
    expect(summary).toMatchObject({ skipReason: null, incomplete: true });
    expect(onsets.length).toBeGreaterThan(0);
  });

  test("and does not call it silent if no more than silence is left", async () => {
    const { summary } = await decodeAll(decoder, await changed(folder, "silence-mp3.mp3", cutTo(0.4)));
    expect(summary).toMatchObject({ skipReason: null, incomplete: true });
  });
});

describe.each(decoders)("%s turns away", (_, decoder) => {
  test("a file of zero bytes as unreadable", async () => {
    expect(await failure(decoder, await written(folder, "empty.mp4", ""))).toBe("unreadable_media");
  });

  test.each(["notes", "notes.txt", "notes.mp4"])("text in a file named %s as unreadable", async (name) => {
    const text = "We met on Monday and agreed on the plan.\n".repeat(200);
    expect(await failure(decoder, await written(folder, name, text))).toBe("unreadable_media");
  });

  test.each(["page.html", "page.mp4"])("a web page in a file named %s as unreadable", async (name) => {
    const page = `<!doctype html><html><head><title>Sign in</title></head><body><video src="${canaryUrl}/a.mp4"></video></body></html>`;
    expect(await failure(decoder, await written(folder, name, page))).toBe("unreadable_media");
  });

  test.each(["random", "random.mp4", "random.mp3", "random.ts"])(
    "random bytes in %s as unreadable",
    async (name) => {
      expect(await failure(decoder, await written(folder, name, noise(100_000)))).toBe("unreadable_media");
    },
  );

  test("an MP4 without its index as unreadable", async () => {
    expect(await failure(decoder, await changed(folder, "m4a-aac-beeps.m4a", withoutMoov))).toBe(
      "unreadable_media",
    );
  });

  test.each(["picture.jpg", "picture.png"])("%s as unsupported", async (name) => {
    expect(await failure(decoder, fixture(name))).toBe("unsupported_media");
    await copyFile(fixture(name), join(folder, "picture.mp4"));
    expect(await failure(decoder, join(folder, "picture.mp4"))).toBe("unsupported_media");
  });

  test.each(["list.m3u8", "list.mp4"])("a playlist named %s as unsupported, unopened", async (name) => {
    const lines = [`${canaryUrl}/a.ts`, fixture("adts-aac-beeps.aac")].map(
      (target) => `#EXTINF:3,\n${target}\n`,
    );
    const list = `#EXTM3U\n#EXT-X-TARGETDURATION:3\n${lines.join("")}#EXT-X-ENDLIST\n`;
    expect(await failure(decoder, await written(folder, name, list))).toBe("unsupported_media");
  });

  test("a session description as unsupported", async () => {
    const lines = [
      "v=0",
      "o=- 0 0 IN IP4 127.0.0.1",
      "s=x",
      "c=IN IP4 127.0.0.1",
      "t=0 0",
      "m=audio 5004 RTP/AVP 0",
    ];
    expect(await failure(decoder, await written(folder, "session.mp4", lines.join("\r\n")))).toBe(
      "unsupported_media",
    );
  });

  test("a list of files to join as unsupported", async () => {
    const list = `ffconcat version 1.0\nfile '${fixture("adts-aac-beeps.aac")}'\nfile '${canaryUrl}/a.ts'\n`;
    expect(await failure(decoder, await written(folder, "list.ffconcat", list))).toBe("unsupported_media");
  });

  test("encrypted audio as undecodable", async () => {
    expect(await failure(decoder, fixture("encrypted.mp4"))).toBe("undecodable_audio");
  });

  test("a codec that nobody knows as undecodable", async () => {
    expect(await failure(decoder, await changed(folder, "mp4-aac-beeps.mp4", unknownCodec))).toBe(
      "undecodable_audio",
    );
  });

  test("a track of which nothing decodes as undecodable", async () => {
    expect(await failure(decoder, await changed(folder, "mp4-aac-beeps.mp4", noiseInMdat))).toBe(
      "undecodable_audio",
    );
  });

  test("13 hours in 90 kB as too long where 12 are allowed", async () => {
    expect(await failure(decoder, fixture("silence-13h.flac"))).toBe("media_too_long");
  });

  test("a recording whose header does not report that it is too long", async () => {
    expect(await failure(decoder, fixture("recorder.webm"), 1)).toBe("media_too_long");
    const probe = await decoder.probe(fixture("recorder.webm"), signal);
    const silent = { probe: { ...probe, duration: null }, maxDurationSeconds: 1, signal };
    const chunks = decoder.decode(fixture("recorder.webm"), silent).chunks;
    await expect(Array.fromAsync(chunks)).rejects.toMatchObject({
      code: "media_too_long",
      message: "The recording is longer than the limit of 1 s.",
    });
  });

  test("a file that is not there with the system's own error", async () => {
    expect(await failure(decoder, join(folder, "nowhere.mp4"))).toBe("ENOENT");
  });
});

describe.each(decoders)("%s is not led astray", (_, decoder) => {
  test("by an MP4 that says its media lie at a URL", async () => {
    const path = await changed(folder, "m4a-aac-beeps.m4a", referencing(`${canaryUrl}/media.mp4`));
    await failure(decoder, path);
    expect(visits).toBe(0);
  });

  test("by pictures of 16000 × 16000", async () => {
    const { onsets, summary } = await decodeAll(decoder, fixture("huge-frames.mp4"));
    expect(onsets).toHaveLength(3);
    expect(summary).toMatchObject({ skipReason: null, incomplete: false });
  });

  test.each(["two words.mp4", "-i.mp4", "línea\nnueva.mp4", "音声 🎬.mp4", "a:b|c%d'\".mp4", "http:/x.mp4"])(
    "by a file named %j",
    async (name) => {
      const path = join(folder, "names", name);
      await mkdir(dirname(path), { recursive: true });
      await copyFile(fixture("mp4-aac-beeps.mp4"), path);
      expect((await decodeAll(decoder, path)).onsets).toHaveLength(3);
    },
  );

  test("by any of these files to an address", () => {
    expect(visits).toBe(0);
  });
});
