import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { silence } from "../src/media/audio.ts";
import type { DecodedAudio, Probe } from "../src/media/media.ts";
import type { UtteranceGroup } from "../src/vad/utterances.ts";
import { type Waveform, WaveformMeter, WaveformReport } from "../src/waveform.ts";

const bytes = ({ peaks }: Waveform) => [...Buffer.from(peaks, "base64")];
const tone = (seconds: number, amplitude: number) =>
  Float32Array.from({ length: seconds * 16_000 }, (_, i) => amplitude * (i % 2 === 0 ? 1 : -1));

describe("the peaks of a waveform", () => {
  test("are the square roots of the loudest samples of each tenth of a second", () => {
    const meter = new WaveformMeter(0);
    meter.add(tone(0.1, 1));
    meter.add(tone(0.1, 0.25));
    meter.add(tone(0.05, 0));
    meter.add(tone(0.05, 0.04));
    meter.add(tone(0.03, 2));
    expect(bytes(meter.finish({ duration: 0.33, whole: true }))).toEqual([255, 128, 51, 255]);
  });

  test("stand if a player plays them: late audio comes after silence, silence fills the rest", () => {
    const meter = new WaveformMeter(0.25);
    meter.add(tone(0.1, 1));
    expect(bytes(meter.finish({ duration: 0.7, whole: true }))).toEqual([0, 0, 255, 255, 0, 0, 0]);
  });

  test("of a recording that could not be read to its end stop there", () => {
    const meter = new WaveformMeter(0);
    meter.add(tone(0.25, 1));
    const waveform = meter.finish({ duration: 60, whole: false });
    expect(waveform).toMatchObject({ duration: 60, whole: false });
    expect(bytes(waveform)).toEqual([255, 255, 255]);
  });

  test("are the same however the audio is cut into chunks", () => {
    const chunks = fc.array(fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { maxLength: 4000 }));
    fc.assert(
      fc.property(chunks, fc.integer({ min: 0, max: 5000 }), (parts, late) => {
        const measured = (pieces: number[][]) => {
          const meter = new WaveformMeter(late / 16_000);
          for (const piece of pieces) meter.add(Float32Array.from(piece));
          return meter.finish({ duration: meter.seconds, whole: true });
        };
        expect(measured(parts)).toEqual(measured([parts.flat()]));
      }),
      { numRuns: 50 },
    );
  });
});

test("a waveform is the same whether silence comes as samples or as their number", () => {
  const counts = fc.array(fc.record({ sound: fc.nat(4000), pause: fc.nat(9000) }), { maxLength: 8 });
  fc.assert(
    fc.property(counts, fc.nat(5000), (parts, late) => {
      const measured = (silenceOf: (count: number) => Iterable<Float32Array>) => {
        const meter = new WaveformMeter(late / 16_000);
        for (const { sound, pause } of parts) {
          meter.add(new Float32Array(sound).fill(0.3));
          for (const chunk of silenceOf(pause)) meter.add(chunk);
        }
        return meter.finish({ duration: meter.seconds, whole: true });
      };
      expect(measured(silence)).toEqual(measured((count) => [new Float32Array(count)]));
    }),
  );
});

describe("the speech of a waveform", () => {
  test("continues if it was split for the engine, and is inside the media", () => {
    const meter = new WaveformMeter(0);
    meter.addSpeech([{ start: 0.512, end: 1 }]);
    meter.addSpeech([
      { start: 1, end: 2.004 },
      { start: 3, end: 9 },
      { start: 9.5, end: 10 },
    ]);
    expect(meter.finish({ duration: 8, whole: true }).speech).toEqual([
      [0.51, 2],
      [3, 8],
    ]);
  });
});

describe("a waveform is reported", () => {
  const PROBE: Probe = {
    duration: 10,
    audioStream: 0,
    channels: 1,
    audioOffset: 0,
    audioTrack: 1,
    otherTracks: [],
    hasUndecodableTrack: false,
  };
  const audio: DecodedAudio = {
    chunks: (async function* () {})(),
    summary: () => ({ samples: 0, duration: 1, skipReason: null, incomplete: false }),
  };
  const report = () => {
    const reported: Waveform[] = [];
    return { reported, report: new WaveformReport(audio, PROBE, (waveform) => reported.push(waveform)) };
  };
  const read = async (items: AsyncIterable<unknown>) => {
    for await (const _ of items);
  };
  async function* items<T>(...all: T[]) {
    yield* all;
  }
  const noGroups = () => items<UtteranceGroup>();

  test("once when the whole recording was read, whatever fails afterwards", async () => {
    const { reported, report: its } = report();
    await read(its.measure(items(tone(0.1, 1)), (samples) => samples));
    await read(its.markSpeech(noGroups()));
    its.endEarly();
    expect(reported).toMatchObject([{ duration: 1, whole: true }]);
  });

  test("as far as it was read if an error comes before the end", async () => {
    const { reported, report: its } = report();
    await read(its.measure(items(tone(0.1, 1)), (samples) => samples));
    its.endEarly();
    expect(reported).toMatchObject([{ duration: 10, whole: false, peaks: "/w==" }]);
  });

  test("never if not one sample was decoded before the error", () => {
    const { reported, report: its } = report();
    its.endEarly();
    expect(reported).toEqual([]);
  });
});
