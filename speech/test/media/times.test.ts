import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decodeAll, decoders } from "../support/media-decoding.ts";
import { beep, fixture, wav, written } from "../support/media-files.ts";

/** Seconds by which a sound may be found beside its place. */
const TOLERANCE = 0.02;
const BEEPS = [0.5, 1.25, 2.25];
/** What AAC and MP3 at 24 kHz (LAME) give before the first sample, if the container has no field for it: players show it too. */
const AAC_START = 1024 / 48_000;
const MP3_START = 1105 / 24_000;

function expectTimes(found: number[], expected: number[]): void {
  expect(found, `found ${found}`).toHaveLength(expected.length);
  expected.forEach((at, i) => {
    expect(Math.abs(found[i]! - at), `found ${found}, not ${expected}`).toBeLessThan(TOLERANCE);
  });
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "subtext media "));
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(decoders)("%s finds sounds at the times a player shows them", (_, decoder) => {
  test.each([
    ["mp4-aac-beeps.mp4", BEEPS],
    ["m4a-aac-beeps.m4a", BEEPS],
    ["webm-opus-beeps.webm", BEEPS],
    ["mkv-vorbis-beeps.mkv", BEEPS],
    ["mp3-beeps.mp3", BEEPS],
    ["wav-8khz-beeps.wav", BEEPS],
    ["flac-beeps.flac", BEEPS],
    ["mov-pcm-beeps.mov", BEEPS],
    ["ogg-opus-beeps.ogg", BEEPS],
    ["ogg-vorbis-beeps.ogg", BEEPS],
    ["mpegts-aac-beeps.mpegts", BEEPS.map((at) => at + AAC_START)],
    ["adts-aac-beeps.aac", BEEPS.map((at) => at + AAC_START)],
    ["avi-mp3-beeps.avi", BEEPS.map((at) => at + MP3_START)],
    ["cover-art-beeps.mp3", BEEPS],
  ])("in %s", async (name, expected) => {
    const { onsets, summary } = await decodeAll(decoder, fixture(name));
    expectTimes(onsets, expected);
    expect(summary).toMatchObject({ skipReason: null, incomplete: false });
    expect(Math.abs(summary.duration - 3)).toBeLessThan(0.12);
  });

  test("where the audio begins 5 s after the picture", async () => {
    const { onsets, probe, summary } = await decodeAll(decoder, fixture("audio-5s-late.mp4"));
    expectTimes(onsets, [5.5, 6.25, 7.25]);
    expect(probe.audioOffset).toBeCloseTo(5 - AAC_START, 2);
    expect(summary.duration).toBe(8);
  });

  test("where the audio pauses for 6 s", async () => {
    const { onsets, summary } = await decodeAll(decoder, fixture("gap-6s.webm"));
    expectTimes(onsets, [0.5, 7.25, 8.25]);
    expect(summary.duration).toBeCloseTo(9, 1);
  });

  test("where the audio of a transport stream pauses for 15 s", async () => {
    const { onsets } = await decodeAll(decoder, fixture("gap-15s.mpegts"));
    expectTimes(onsets, [0.5 + AAC_START, 16.25 + AAC_START, 17.25 + AAC_START]);
  });

  test("where the audio pauses for 50 minutes", async () => {
    const { onsets, summary } = await decodeAll(decoder, fixture("gap-50min.webm"));
    expectTimes(onsets, [0.5, 3001.25, 3002.25]);
    expect(summary.duration).toBeCloseTo(3003, 1);
  });

  test("where stereo turns into mono half-way", async () => {
    const { onsets } = await decodeAll(decoder, fixture("stereo-then-mono-beeps.mpegts"));
    const second = 142 * AAC_START;
    expectTimes(
      onsets,
      [...BEEPS, ...BEEPS.map((at) => at + second)].map((at) => at + AAC_START),
    );
  });

  test("in the center of 5.1 channels", async () => {
    expectTimes((await decodeAll(decoder, fixture("surround-5.1-beeps.mkv"))).onsets, BEEPS);
  });

  test("in one of 10 channels without names", async () => {
    const path = await written(
      folder,
      "ten.wav",
      wav(10, 3, (at, channel) => (channel === 9 ? 2 * beep(at) : 0)),
    );
    expectTimes((await decodeAll(decoder, path)).onsets, BEEPS);
  });

  test("in two channels that cancel each other", async () => {
    const { onsets, peak } = await decodeAll(decoder, fixture("anti-phase-beeps.m4a"));
    expectTimes(onsets, BEEPS);
    expect(peak).toBeGreaterThan(0.4);
  });

  test("in the left channel alone", async () => {
    expectTimes((await decodeAll(decoder, fixture("left-only-beeps.m4a"))).onsets, BEEPS);
  });

  test("in the default track if that is not the first", async () => {
    const { onsets, probe } = await decodeAll(decoder, fixture("second-track-default-beeps.mp4"));
    expect(probe.audioStream).toBe(2);
    expectTimes(onsets, BEEPS);
  });

  test("where the picture continues longer, which counts for the duration", async () => {
    const { onsets, summary } = await decodeAll(decoder, fixture("video-longer.mp4"));
    expectTimes(onsets, BEEPS);
    expect(summary).toMatchObject({ duration: 6, incomplete: false });
  });

  test.each(["recorder.webm", "recorder.mp4"])("in %s, whose header has no duration", async (name) => {
    const { onsets, summary } = await decodeAll(decoder, fixture(name));
    const start = name === "recorder.mp4" ? AAC_START : 0;
    expectTimes(
      onsets,
      BEEPS.map((at) => at + start),
    );
    expect(Math.abs(summary.duration - 3)).toBeLessThan(0.06);
    expect(summary.incomplete).toBe(false);
  });

  test("where the clock jumps by 28 hours, as if it had not", async () => {
    const { onsets, summary } = await decodeAll(decoder, fixture("jump-28h.webm"));
    expectTimes(onsets, BEEPS);
    expect(summary.duration).toBeCloseTo(3, 1);
  });
});
