import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SpeechError } from "../../src/errors.ts";
import { isSharedSilence } from "../../src/media/audio.ts";
import { Chunker } from "../../src/media/chunker.ts";
import { type DecodeEvidence, summarizeDecode } from "../../src/media/decode-summary.ts";
import { DecoderLog } from "../../src/media/decoder-log.ts";
import { downmixFilters } from "../../src/media/downmix.ts";
import { readMatroskaBlocks } from "../../src/media/matroska-blocks.ts";
import { MONO, StereoMix } from "../../src/media/mono.ts";
import { PacketClock, Timeline } from "../../src/media/timeline.ts";

function concat(chunks: Iterable<Float32Array>): number[] {
  return [...chunks].flatMap((chunk) => [...chunk]);
}

function mixerOf(channels: 1 | 2): Chunker<Float32Array> {
  return new Chunker(channels, channels === 1 ? MONO : new StereoMix());
}

function mix(channels: 1 | 2, blocks: Float32Array[]): number[] {
  const mixer = mixerOf(channels);
  return [...blocks.flatMap((block) => concat(mixer.add(block))), ...concat(mixer.flush())];
}

describe("the mono mixer", () => {
  const samples = fc.float32Array({ min: -1, max: 1, noNaN: true, maxLength: 200 });

  test("returns mono unchanged, whatever the block sizes", () => {
    fc.assert(
      fc.property(fc.array(samples), (blocks) => {
        expect(mix(1, blocks)).toEqual(blocks.flatMap((block) => [...block]));
      }),
    );
  });

  test("gives as many samples as there are frames, and none beyond full scale", () => {
    const wild = fc.oneof(samples, fc.float32Array({ maxLength: 40 }));
    fc.assert(
      fc.property(fc.array(wild.filter((block) => block.length % 2 === 0)), (blocks) => {
        const mono = mix(2, blocks);
        expect(mono).toHaveLength(blocks.reduce((sum, block) => sum + block.length / 2, 0));
        expect(mono.every((sample) => Math.abs(sample) <= 1)).toBe(true);
      }),
    );
  });

  test("keeps sound that is in both channels and sound that is in one", () => {
    const tone = Float32Array.from({ length: 48_000 }, (_, i) => Math.sin(i / 5));
    const both = Float32Array.from({ length: 96_000 }, (_, i) => tone[i >> 1]!);
    const left = Float32Array.from({ length: 96_000 }, (_, i) => (i % 2 === 0 ? tone[i >> 1]! : 0));
    expect(mix(2, [both])).toEqual([...tone]);
    expect(mix(2, [left])).toEqual([...tone.map((sample) => sample / 2)]);
  });

  test("takes one channel from the second in which the two cancel", () => {
    const tone = (i: number) => Math.sin(i / 5) / 2;
    const turned = Float32Array.from({ length: 96_000 }, (_, i) =>
      i < 32_000 || i % 2 === 0 ? tone(i >> 1) : -tone(i >> 1),
    );
    const mono = mix(2, [turned]);
    for (const second of [0, 1, 2]) {
      const loudest = Math.max(...mono.slice(second * 16_000 + 160, second * 16_000 + 16_000));
      expect(loudest).toBeCloseTo(0.5, 2);
    }
  });

  test("inserts the requested amount of silence", () => {
    fc.assert(
      fc.property(fc.nat(40_000), fc.nat(40_000), (silence, length) => {
        const mixer = mixerOf(1);
        const all = [...concat(mixer.add(new Float32Array(length).fill(1)))];
        all.push(...concat(mixer.addSilence(silence)), ...concat(mixer.flush()));
        expect(all.length).toBe(length + silence);
        expect(all.filter((sample) => sample === 0).length).toBe(silence);
      }),
      { numRuns: 20 },
    );
  });

  test.each([1, 2] as const)("gives silence of %i channels without allocating samples", (channels) => {
    const mixer = mixerOf(channels);
    const sound = new Float32Array(channels * 8_000).fill(0.5);
    const hours = 10 * 3600 * 16_000;
    const chunks = [...mixer.add(sound), ...mixer.addSilence(hours), ...mixer.add(sound), ...mixer.flush()];
    expect(chunks.reduce((sum, { length }) => sum + length, 0)).toBe(hours + 16_000);
    expect(chunks.map(isSharedSilence)).toEqual(
      chunks.map((_, index) => index > 0 && index < chunks.length - 1),
    );
    expect(chunks.length).toBeLessThan(1000);
    expect(mixer.peak).toBe(0.5);
  });

  test("recognizes decoded silence, second by second", () => {
    const mixer = mixerOf(2);
    const samples = new Float32Array(2 * 3 * 16_000);
    samples[0] = 0.5;
    expect([...mixer.add(samples)].map(isSharedSilence)).toEqual([false, true, true]);
  });
});

describe("the timeline", () => {
  test("puts every block at its time, within a tenth of a second, if the clock makes sense", () => {
    const steps = fc.array(
      fc.record({ pause: fc.double({ min: 0, max: 60, noNaN: true }), length: fc.nat(50_000) }),
    );
    fc.assert(
      fc.property(fc.double({ min: 0, max: 100, noNaN: true }), steps, (offset, blocks) => {
        const timeline = new Timeline(offset);
        let at = offset;
        for (const { pause, length } of blocks) {
          at += pause;
          const { silence, drop } = timeline.place({ at }, length);
          expect(drop).toBe(0);
          expect(silence === 0 || silence > 1600).toBe(true);
          const start = offset + (timeline.samples - length) / 16_000;
          // The first block may be up to 0.1 s late, which delays all others.
          expect(Math.abs(start - at)).toBeLessThanOrEqual(0.2001);
          at += length / 16_000;
        }
      }),
    );
  });

  test("follows a block without a time with the next", () => {
    const timeline = new Timeline(0);
    timeline.place({ at: 0 }, 16_000);
    expect(timeline.place({ at: null }, 16_000)).toEqual({ silence: 0, drop: 0 });
    expect(timeline.place({ at: 2 }, 16_000)).toEqual({ silence: 0, drop: 0 });
  });

  test("cuts overlapping samples", () => {
    const timeline = new Timeline(0);
    timeline.place({ at: 0 }, 16_000);
    expect(timeline.place({ at: 0.5 }, 16_000)).toEqual({ silence: 0, drop: 8000 });
    expect(timeline.samples).toBe(24_000);
  });

  test.each([[90_000], [-30]])("continues without a gap if the clock jumps by %d s", (jump) => {
    const timeline = new Timeline(0);
    timeline.place({ at: 0 }, 16_000 * 60);
    expect(timeline.place({ at: 60 + jump }, 16_000)).toEqual({ silence: 0, drop: 0 });
    expect(timeline.place({ at: 63 + jump }, 16_000)).toEqual({ silence: 32_000, drop: 0 });
  });

  test("measures by packets, the longest stream counting, jumps not", () => {
    const clock = new PacketClock();
    clock.add(0, 10, 0.04);
    clock.add(1, 12, 0.02);
    clock.add(0, 30, 0.04);
    clock.add(0, 29.96, 0.04);
    clock.add(1, 100_000, 0.02);
    clock.add(1, null, 0.02);
    expect(clock.seconds).toBeCloseTo(20.04, 6);
  });

  test("measures what follows a reset of the packets' clock", () => {
    const clock = new PacketClock();
    for (const start of [0, 0]) {
      for (let second = start; second < 2400; second++) clock.add(0, second, 1);
    }
    expect(clock.seconds).toBeCloseTo(4800, 6);
  });
});

describe("the reader of ffmpeg's Matroska", () => {
  const vint = (size: number) => [0x10 | (size >> 24), (size >> 16) & 0xff, (size >> 8) & 0xff, size & 0xff];
  const element = (id: number[], body: number[]) => [...id, ...vint(body.length), ...body];
  const floats = (values: number[]) => [...new Uint8Array(Float32Array.from(values).buffer)];
  const block = (ms: number, values: number[]) =>
    element([0xa3], [0x81, (ms >> 8) & 0xff, ms & 0xff, 0x80, ...floats(values)]);
  const stream = [
    ...element([0x1a, 0x45, 0xdf, 0xa3], [0x42, 0x86, 0x81, 0x01]),
    ...[0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ...element([0x15, 0x49, 0xa9, 0x66], new Array(300).fill(0xa3)),
    ...[0x1f, 0x43, 0xb6, 0x75, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ...element([0xe7], [0x03, 0xe8]),
    ...block(0, [0.25, 0.5]),
    ...block(-20, [1]),
    ...element(
      [0x1f, 0x43, 0xb6, 0x75],
      [
        ...element([0xe7], [0x01, 0x00, 0x00]),
        ...element([0xa0], element([0xa1], [0x81, 0, 5, 0, ...floats([-1])])),
      ],
    ),
  ];

  test("finds the same blocks however the bytes are split", async () => {
    const expected = [
      { at: 1, samples: [0.25, 0.5] },
      { at: 0.98, samples: [1] },
      { at: 65.541, samples: [-1] },
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: stream.length })), async (cuts) => {
        const ends = [...cuts, stream.length].sort((a, b) => a - b);
        const pieces = ends.map((end, i) => Buffer.from(stream.slice(ends[i - 1] ?? 0, end)));
        const found = (await Array.fromAsync(readMatroskaBlocks(toAsync(pieces)))).flat();
        expect(found.map(({ at, samples }) => ({ at, samples: [...samples] }))).toEqual(expected);
      }),
    );
  });

  async function* toAsync(pieces: Buffer[]) {
    yield* pieces;
  }
});

describe("the decode summary", () => {
  const good: DecodeEvidence = {
    samples: 960_000,
    decodedSeconds: 60,
    peak: 0.5,
    audioOffset: 0,
    duration: 60,
    audioDuration: 60,
    report: { failedPackets: 0, damaged: false, lastMessage: null },
  };
  const summarize = (change: Partial<DecodeEvidence>) => summarizeDecode({ ...good, ...change });
  const report = (failedPackets: number) => ({ failedPackets, damaged: false, lastMessage: "aac: broken" });

  test("reports a complete recording as complete", () => {
    expect(summarizeDecode(good)).toEqual({
      samples: 960_000,
      duration: 60,
      skipReason: null,
      incomplete: false,
    });
  });

  test("tolerates a bad packet at an end, but not many or a long loss", () => {
    expect(summarize({ report: report(2) }).incomplete).toBe(false);
    expect(summarize({ report: report(3) }).incomplete).toBe(true);
    expect(summarize({ report: report(1), decodedSeconds: 55 }).incomplete).toBe(true);
    expect(summarize({ samples: 900_000, decodedSeconds: 56 }).incomplete).toBe(true);
  });

  test("fails if hardly anything decodes", () => {
    const broken = { decodedSeconds: 5, samples: 80_000, report: report(900) };
    expect(() => summarize(broken)).toThrow(SpeechError);
    expect(() => summarize(broken)).toThrow("aac: broken");
  });

  test("reports audio that never exceeds −90 dB as silent, unless some of it was lost", () => {
    expect(summarize({ peak: 1 / 32768 }).skipReason).toBe("silent_audio_track");
    expect(summarize({ peak: 3 / 32768 }).skipReason).toBeNull();
    expect(summarize({ peak: 0, report: report(100) })).toMatchObject({ skipReason: null, incomplete: true });
  });

  test("reports the duration of what was transcribed if it continues past the container's", () => {
    expect(summarize({ duration: null }).duration).toBe(60);
    expect(summarize({ duration: 59.99 }).duration).toBe(59.99);
    expect(summarize({ duration: 30, audioDuration: null }).duration).toBe(60);
  });
});

describe("ffmpeg's error messages", () => {
  test("count the failed packets of the decoded stream, including repeats, however the text is split", () => {
    const text =
      "[aac @ 0x5581] Reserved bit set.\nError while decoding stream #0:1: Invalid data\n" +
      "    Last message repeated 4 times\n[aist#0:1/aac @ 0x1] [dec:aac @ 0x2] Error submitting packet to decoder: x\n" +
      "[mpegts @ 0x3] Packet corrupt (stream = 0, dts = 9).\n[mpegts @ 0x3] Packet corrupt (stream = 1, dts = 9).\n";
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const complaints = new DecoderLog(1);
        const ends = [...cuts, text.length].sort((a, b) => a - b);
        ends.forEach((end, i) => {
          complaints.add(text.slice(ends[i - 1] ?? 0, end));
        });
        complaints.end();
        expect(complaints.failedPackets).toBe(7);
        expect(complaints.damaged).toBe(false);
      }),
    );
  });

  test.each([
    ["Video: h264", false],
    ["Audio: aac", true],
  ])("count missing parameters of a stream %s as damage: %s", (stream, damaged) => {
    const complaints = new DecoderLog(1);
    complaints.add(`[mpegts @ 0x1] Could not find codec parameters for stream 0 (${stream}): unspecified\n`);
    complaints.end();
    expect(complaints.damaged).toBe(damaged);
  });

  test("are limited in lines and length, and contain no addresses or paths", () => {
    const complaints = new DecoderLog(null);
    for (let i = 0; i < 1000; i++)
      complaints.add(`[mov @ 0x${i}] file:/srv/secret/a.mp4: ${"x".repeat(5000)}\n`);
    complaints.add("y".repeat(10_000_000));
    complaints.end();
    expect(complaints.lines.length).toBeLessThanOrEqual(20);
    expect(complaints.lines.join("").length).toBeLessThan(10_000);
    expect(complaints.lines.join("")).not.toMatch(/secret|0x/);
  });
});

test("more than 8 channels are mixed by their number, each recognized in one of two", () => {
  const [pan] = downmixFilters(10, 2);
  expect(pan!.name).toBe("pan");
  for (let i = 0; i < 10; i++) expect(pan!.options).toMatch(new RegExp(`0\\.2000\\*c${i}\\b`));
  expect(downmixFilters(8, 2).map(({ name }) => name)).toEqual(["aresample", "aformat"]);
});
