import { isSharedSilence, SAMPLE_RATE } from "./media/audio.ts";
import type { DecodedAudio, Probe } from "./media/media.ts";
import type { UtteranceGroup } from "./vad/utterances.ts";

const PEAKS_PER_SECOND = 10;
const SAMPLES_PER_PEAK = SAMPLE_RATE / PEAKS_PER_SECOND;
/** Spans with a smaller gap are joined, because utterances may be cut inside continuous speech. */
const MIN_GAP_SECONDS = 0.05;

/** The peaks and spans of speech of a recording. */
export interface Waveform {
  /** Seconds of the media, 3 decimals. */
  duration: number;
  /** False if the transcription failed and the waveform covers only the beginning. */
  whole: boolean;
  peaksPerSecond: number;
  /**
   * Base64. Each byte is 255 times the square root of the peak amplitude, so the shape of quiet recordings remains
   * visible.
   */
  peaks: string;
  /** `[start, end]` in seconds of the media, 2 decimals, in order and without overlaps. */
  speech: [number, number][];
}

export class WaveformMeter {
  #peaks = new Uint8Array(4096);
  /** Position in the media, samples. */
  #position: number;
  #loudest = 0;
  readonly #speech: [number, number][] = [];

  /** @param audioOffset time of the first sample in the media, seconds */
  constructor(audioOffset: number) {
    this.#position = Math.round(audioOffset * SAMPLE_RATE);
  }

  get seconds(): number {
    return this.#position / SAMPLE_RATE;
  }

  add(samples: Float32Array): void {
    if (isSharedSilence(samples)) {
      this.#addSilence(samples.length);
      return;
    }
    for (let taken = 0; taken < samples.length; ) {
      const missing = SAMPLES_PER_PEAK - (this.#position % SAMPLES_PER_PEAK);
      const end = Math.min(samples.length, taken + missing);
      this.#position += end - taken;
      let loudest = this.#loudest;
      for (; taken < end; taken++) {
        const amplitude = Math.abs(samples[taken]!);
        if (amplitude > loudest) loudest = amplitude;
      }
      this.#loudest = loudest;
      if (this.#position % SAMPLES_PER_PEAK === 0) this.#write();
    }
  }

  /** Does not write the peaks of silence, which are 0 by default. */
  #addSilence(count: number): void {
    const missing = SAMPLES_PER_PEAK - (this.#position % SAMPLES_PER_PEAK);
    this.#position += Math.min(count, missing);
    if (count < missing) return;
    this.#write();
    this.#position += count - missing;
  }

  /** @param spans in seconds of the media; those of two channels may overlap */
  addSpeech(spans: readonly { start: number; end: number }[]): void {
    for (const { start, end } of spans) this.#speech.push([start, end]);
  }

  /** @param duration of the media, in seconds; the time after the last sample is silence */
  finish({ duration, whole }: { duration: number; whole: boolean }): Waveform {
    if (this.#position % SAMPLES_PER_PEAK !== 0) this.#write();
    const count = Math.ceil((whole ? duration : Math.min(duration, this.seconds)) * PEAKS_PER_SECOND);
    this.#reserve(count);
    const clipped = (seconds: number) => Math.round(Math.min(seconds, duration) * 100) / 100;
    return {
      duration,
      whole,
      peaksPerSecond: PEAKS_PER_SECOND,
      peaks: Buffer.from(this.#peaks.subarray(0, count)).toString("base64"),
      speech: joinSpans(this.#speech)
        .map(([start, end]): [number, number] => [clipped(start), clipped(end)])
        .filter(([start, end]) => start < end),
    };
  }

  /** Writes the peak that ends at the current position. */
  #write(): void {
    const index = Math.ceil(this.#position / SAMPLES_PER_PEAK) - 1;
    this.#reserve(index + 1);
    this.#peaks[index] = Math.round(255 * Math.sqrt(Math.min(1, this.#loudest)));
    this.#loudest = 0;
  }

  #reserve(count: number): void {
    if (count <= this.#peaks.length) return;
    const larger = new Uint8Array(Math.max(count, 2 * this.#peaks.length));
    larger.set(this.#peaks);
    this.#peaks = larger;
  }
}

function joinSpans(spans: readonly [number, number][]): [number, number][] {
  const joined: [number, number][] = [];
  for (const [start, end] of spans.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last && start - last[1] < MIN_GAP_SECONDS) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

/** Measures the audio between the decoder and the engines and reports the waveform once. */
export class WaveformReport {
  readonly #audio: Pick<DecodedAudio, "summary">;
  readonly #probe: Probe;
  readonly #onWaveform: ((waveform: Waveform) => void) | undefined;
  readonly #meter: WaveformMeter;
  #state: "waiting" | "measuring" | "reported" = "waiting";

  constructor(
    audio: Pick<DecodedAudio, "summary">,
    probe: Probe,
    onWaveform: ((waveform: Waveform) => void) | undefined,
  ) {
    this.#audio = audio;
    this.#probe = probe;
    this.#onWaveform = onWaveform;
    this.#meter = new WaveformMeter(probe.audioOffset);
  }

  /** @param mixOf returns the samples to show */
  async *measure<Chunk>(
    chunks: AsyncIterable<Chunk>,
    mixOf: (chunk: Chunk) => Float32Array,
  ): AsyncGenerator<Chunk> {
    for await (const chunk of chunks) {
      this.#state = "measuring";
      this.#meter.add(mixOf(chunk));
      yield chunk;
    }
  }

  async *markSpeech(groups: AsyncIterable<UtteranceGroup>): AsyncGenerator<UtteranceGroup> {
    for await (const group of groups) {
      for (const { speech } of group.utterances) this.#meter.addSpeech(speech);
      yield group;
    }
    this.#finish(this.#audio.summary().duration, true);
  }

  endEarly(): void {
    if (this.#state === "measuring") this.#finish(this.#probe.duration ?? this.#meter.seconds, false);
  }

  #finish(duration: number, whole: boolean): void {
    this.#state = "reported";
    this.#onWaveform?.(this.#meter.finish({ duration, whole }));
  }
}
