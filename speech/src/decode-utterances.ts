import { muteLeakage } from "./channels/mute-leakage.ts";
import { detectSeparateSpeakers } from "./channels/separate-speakers.ts";
import { prefetch } from "./lib/prefetch.ts";
import type { StageTimer } from "./lib/stage-timer.ts";
import { isSharedSilence } from "./media/audio.ts";
import type { ChannelPair } from "./media/channel-pair.ts";
import type { DecodedAudio, DecodeOptions, Decoder } from "./media/media.ts";
import type { Channel } from "./transcript.ts";
import { packUtterances, type UtteranceGroup } from "./vad/utterances.ts";
import { scoreAudio } from "./vad/voice-activity.ts";
import { type Waveform, WaveformReport } from "./waveform.ts";

/** One-second chunks that are decoded ahead of voice activity detection. */
const PREFETCHED_CHUNKS = 4;
/** Groups of utterances, a few minutes each, that are prepared while the engine is busy. */
const PREFETCHED_GROUPS = 1;

type Score = Parameters<typeof scoreAudio>[1];

interface DecodeUtterancesOptions extends DecodeOptions {
  /** Returns a function that scores the blocks of a channel in order, or those of the mix if `channel` is undefined. */
  scores: (channel?: Channel) => Score;
  maxUtteranceSeconds: number;
  timer: StageTimer;
  onWaveform: ((waveform: Waveform) => void) | undefined;
}

export interface DecodedUtterances {
  /** Whether the recording has one speaker per channel. Then every utterance has a channel. */
  hasChannels: boolean;
  /** Groups are prefetched. The utterances of two channels may overlap; they are sorted by start. */
  groups: AsyncGenerator<UtteranceGroup>;
  waveform: WaveformReport;
  /** Valid after `groups` has been read to its end. */
  summary: DecodedAudio["summary"];
}

/** Decodes a recording and finds its speech: decode → voice activity → utterances. */
export async function decodeUtterances(
  decoder: Decoder,
  path: string,
  options: DecodeUtterancesOptions,
): Promise<DecodedUtterances> {
  const { probe, timer, scores, maxUtteranceSeconds, onWaveform } = options;
  const leakage = await timer.time("decode", () => detectSeparateSpeakers(decoder, path, options));
  const pack = (samples: AsyncIterable<Float32Array>, score: Score) =>
    packUtterances(scoreAudio(samples, score), maxUtteranceSeconds, probe.audioOffset);
  const prepare = <Chunk>(
    audio: DecodedAudio<Chunk>,
    mixOf: (chunk: Chunk) => Float32Array,
    packChunks: (chunks: AsyncGenerator<Chunk>) => AsyncGenerator<UtteranceGroup>,
  ): DecodedUtterances => {
    const waveform = new WaveformReport(audio, probe, onWaveform);
    const chunks = prefetch(
      waveform.measure(timer.timeEach("decode", audio.chunks), mixOf),
      PREFETCHED_CHUNKS,
    );
    const groups = prefetch(waveform.markSpeech(packChunks(chunks)), PREFETCHED_GROUPS);
    return { hasChannels: leakage !== null, groups, waveform, summary: () => audio.summary() };
  };
  if (leakage === null) {
    return prepare(
      decoder.decode(path, options),
      (samples) => samples,
      (chunks) => pack(chunks, scores()),
    );
  }
  return prepare(decoder.decodeChannels(path, options), averageOf, (chunks) => {
    const pairs = muteLeakage(chunks, leakage);
    const [first, second] = splitChannels(pairs);
    return joinChannels(pack(first, scores(1)), pack(second, scores(2)), pairs);
  });
}

/** Joins the groups of both channels, which cover the same time, and closes their source. */
async function* joinChannels(
  first: AsyncGenerator<UtteranceGroup>,
  second: AsyncGenerator<UtteranceGroup>,
  source: AsyncGenerator<ChannelPair>,
): AsyncGenerator<UtteranceGroup> {
  try {
    for await (const group of first) {
      const { value: other } = (await second.next()) as IteratorYieldResult<UtteranceGroup>;
      yield {
        utterances: [...withChannel(group, 1), ...withChannel(other, 2)].sort((a, b) => a.start - b.start),
        settledSeconds: Math.min(group.settledSeconds, other.settledSeconds),
      };
    }
  } finally {
    await source.return(undefined);
  }
}

function withChannel({ utterances }: UtteranceGroup, channel: Channel) {
  return utterances.map((utterance) => ({ ...utterance, channel }));
}

function averageOf([first, second]: ChannelPair): Float32Array {
  if (isSharedSilence(first)) return first;
  return first.map((sample, index) => (sample + second[index]!) / 2);
}

/**
 * Returns the channels as two streams. Chunks that one consumer has read and the other has not are buffered, so the
 * consumers should advance together. The streams do not close the source.
 */
export function splitChannels(
  source: AsyncIterator<ChannelPair>,
): readonly [AsyncGenerator<Float32Array>, AsyncGenerator<Float32Array>] {
  const buffers: [Float32Array[], Float32Array[]] = [[], []];
  let reading: Promise<boolean> | null = null;
  const read = async () => {
    const { done, value } = await source.next();
    if (done) return false;
    for (const [index, samples] of value.entries()) buffers[index]!.push(samples);
    return true;
  };
  async function* stream(buffer: Float32Array[]): AsyncGenerator<Float32Array> {
    for (;;) {
      while (buffer.length > 0) yield buffer.shift()!;
      reading ??= read().finally(() => {
        reading = null;
      });
      if (!(await reading) && buffer.length === 0) return;
    }
  }
  return [stream(buffers[0]), stream(buffers[1])];
}
