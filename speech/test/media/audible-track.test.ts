import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chooseAudibleTrack } from "../../src/media/audible-track.ts";
import type { Decoder } from "../../src/media/media.ts";
import { transcribe } from "../../src/transcribe.ts";
import { decoders } from "../support/media-decoding.ts";
import { changed, fixture, unknownCodec } from "../support/media-files.ts";

const { signal } = new AbortController();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "subtext-tracks-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Recognizes nothing: only the decoded track matters. */
function transcribed(decoder: Decoder, path: string) {
  return transcribe(path, {
    decoder,
    engines: { bundled: null, multilingual: SILENT, bundledTakesEnglish: false, remedy: "" },
    voiceActivity: {
      probabilities: async (samples) => new Float32Array(samples.length / 512),
      close: async () => {},
    },
    maxDurationSeconds: 3600,
    signal,
  });
}
const SILENT = {
  name: "none",
  languages: [],
  maxUtteranceSeconds: 20,
  recognize: async () => [],
  close: async () => {},
};

describe.each(decoders)("%s", (_, decoder) => {
  test("transcribes the first track with sound if the default track is silent, and reports which", async () => {
    const path = fixture("third-track-beeps.mp4");
    const probe = await decoder.probe(path, signal);
    expect(probe).toMatchObject({ audioTrack: 1, audioStream: 0 });
    const chosen = await chooseAudibleTrack(decoder, path, { probe, maxDurationSeconds: 3600, signal });
    expect(chosen).toMatchObject({ audioTrack: 3, audioStream: 2 });
    expect(await transcribed(decoder, path)).toMatchObject({ outcome: "transcribed", audioTrack: 3 });
  });

  test.each(["second-track-default-beeps.mp4", "mp4-aac-beeps.mp4"])(
    "reports no track for %s, whose default or only track has sound",
    async (name) => {
      const result = await transcribed(decoder, fixture(name));
      expect(result).toMatchObject({ outcome: "transcribed", audioTrack: null });
    },
  );

  test("skips a file whose tracks are all silent", async () => {
    const result = await transcribed(decoder, fixture("two-silent-tracks.mp4"));
    expect(result).toMatchObject({ outcome: "skipped", reason: "silent_audio_track" });
  });

  test("fails a silent track beside one that cannot be decoded, which may have sound", async () => {
    const path = await changed(folder, "two-silent-tracks.mp4", unknownCodec);
    await expect(transcribed(decoder, path)).rejects.toMatchObject({ code: "undecodable_audio" });
  });
});
