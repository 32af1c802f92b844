import { writeSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { AV_NOPTS_VALUE, AV_PKT_FLAG_CORRUPT, AVERROR_EAGAIN, AVERROR_EOF } from "node-av/constants";
import {
  avChannelLayoutDefault,
  avChannelLayoutDescribe,
  avGetSampleFmtName,
  type Codec,
  CodecContext,
  FFmpegError,
  Filter,
  type FilterContext,
  FilterGraph,
  type FormatContext,
  Frame,
  Packet,
  type Stream,
} from "node-av/lib";
import { SAMPLE_RATE } from "./audio.ts";
import type { DecodeRequest } from "./backend.ts";
import { downmixFilters } from "./downmix.ts";
import { BLOCK_HEADER_BYTES } from "./node-av-messages.ts";

const WRITE_BUFFER_BYTES = 65_536;
/** Packets between turns of the event loop, which detect that the parent process has exited. */
const PACKETS_PER_TURN = 500;
const STDOUT = 1;
/** `AV_CHANNEL_ORDER_UNSPEC`: only the number of channels is known. */
const ORDER_UNSPECIFIED = 0;

/** A track of an open container. */
export interface Track {
  context: FormatContext;
  stream: Stream;
  codec: Codec;
  /** Seconds on the container's clock at playback time 0. */
  startSeconds: number;
}

export interface TrackRequest extends Track, Pick<DecodeRequest, "channels" | "trackChannels"> {}

/** Decodes one track to standard output. Returns the number of failed packets. */
export async function decodeTrack(request: TrackRequest): Promise<number> {
  const { context, stream } = request;
  const decoder = createDecoder(request);
  FFmpegError.throwIfError(decoder.open2Sync(request.codec), "open2");
  const blocks = new BlockWriter();
  const resampler = new Resampler(request, blocks);
  const packet = new Packet();
  packet.alloc();
  const frame = new Frame();
  frame.alloc();
  let failedPackets = 0;

  const receive = () => {
    while (true) {
      const code = decoder.receiveFrameSync(frame);
      if (code === AVERROR_EAGAIN || code === AVERROR_EOF) return;
      if (code < 0) {
        failedPackets++;
        return;
      }
      resampler.add(frame);
      frame.unref();
    }
  };

  for (let packets = 1; ; packets++) {
    const code = context.readFrameSync(packet);
    if (code === AVERROR_EOF) break;
    if (code === AVERROR_EAGAIN) continue;
    // Damage that ends the file early is reported on standard error. Keep what was read so far.
    if (code < 0) break;
    if (packet.streamIndex === stream.index) {
      if (packet.hasFlags(AV_PKT_FLAG_CORRUPT)) failedPackets++;
      if (decoder.sendPacketSync(packet) < 0) failedPackets++;
      receive();
    }
    packet.unref();
    if (packets % PACKETS_PER_TURN === 0) await turn();
  }
  decoder.sendPacketSync(null);
  receive();
  resampler.end();
  blocks.flush();
  return failedPackets;
}

/** Returns a decoder with one thread that must still be opened. */
export function createDecoder({ codec, stream }: Track): CodecContext {
  const decoder = new CodecContext();
  decoder.allocContext3(codec);
  FFmpegError.throwIfError(decoder.parametersToContext(stream.codecpar), "parametersToContext");
  // Needed to drop a codec's priming samples.
  decoder.pktTimebase = stream.timeBase;
  decoder.threadCount = 1;
  return decoder;
}

/** Returns when a frame is played; null if it has no timestamp. */
export function playbackSeconds(frame: Frame, { stream: { timeBase }, startSeconds }: Track): number | null {
  const pts = frame.bestEffortTimestamp !== AV_NOPTS_VALUE ? frame.bestEffortTimestamp : frame.pts;
  return pts === AV_NOPTS_VALUE ? null : (Number(pts) * timeBase.num) / timeBase.den - startSeconds;
}

/** Converts frames of any format to blocks at 16 kHz. The format may change within a track. */
class Resampler {
  readonly #request: TrackRequest;
  readonly #blocks: BlockWriter;
  readonly #out = new Frame();
  #graph: FilterGraph | null = null;
  #source: FilterContext | null = null;
  #sink: FilterContext | null = null;
  #format = "";
  /** Used for a frame without a timestamp. */
  #nextSeconds: number | null = null;

  constructor(request: TrackRequest, blocks: BlockWriter) {
    this.#request = request;
    this.#blocks = blocks;
    this.#out.alloc();
  }

  add(frame: Frame): void {
    if (frame.channelLayout.order === ORDER_UNSPECIFIED) {
      frame.channelLayout = avChannelLayoutDefault(frame.channelLayout.nbChannels);
    }
    const seconds = playbackSeconds(frame, this.#request) ?? this.#nextSeconds ?? 0;
    this.#nextSeconds = seconds + frame.nbSamples / frame.sampleRate;

    const format = describeFormat(frame);
    if (format !== this.#format) {
      this.end();
      this.#open(frame, format);
    }
    frame.pts = BigInt(Math.round(seconds * frame.sampleRate));
    FFmpegError.throwIfError(this.#source!.buffersrcAddFrameSync(frame), "buffersrc");
    this.#drain();
  }

  end(): void {
    if (this.#graph === null) return;
    this.#source!.buffersrcAddFrameSync(null);
    this.#drain();
    this.#graph.free();
    this.#graph = null;
  }

  #open(frame: Frame, format: string): void {
    const { trackChannels, channels } = this.#request;
    const graph = new FilterGraph();
    graph.alloc();
    graph.nbThreads = 1;
    const source = createFilter(graph, "abuffer", format);
    const sink = createFilter(graph, "abuffersink", "");
    let last = source;
    // A later part of the track may have fewer channels.
    const from = Math.min(trackChannels, frame.channelLayout.nbChannels);
    for (const { name, options } of downmixFilters(from, channels)) {
      const filter = createFilter(graph, name, options);
      FFmpegError.throwIfError(last.link(0, filter, 0), "link");
      last = filter;
    }
    FFmpegError.throwIfError(last.link(0, sink, 0), "link");
    FFmpegError.throwIfError(graph.configSync(), "configure filters");
    this.#graph = graph;
    this.#source = source;
    this.#sink = sink;
    this.#format = format;
  }

  #drain(): void {
    const out = this.#out;
    while (this.#sink!.buffersinkGetFrameSync(out) >= 0) {
      const bytes = out.nbSamples * this.#request.channels * 4;
      const at = out.pts === AV_NOPTS_VALUE ? Number.NaN : Number(out.pts) / SAMPLE_RATE;
      this.#blocks.write(at, out.data![0]!.subarray(0, bytes));
      out.unref();
    }
  }
}

/** Returns the options of `abuffer` for frames of this format. */
function describeFormat(frame: Frame): string {
  const rate = frame.sampleRate;
  const layout = avChannelLayoutDescribe(frame.channelLayout) ?? `${frame.channelLayout.nbChannels}c`;
  const format = avGetSampleFmtName(frame.format as Parameters<typeof avGetSampleFmtName>[0]);
  return `time_base=1/${rate}:sample_rate=${rate}:sample_fmt=${format}:channel_layout=${layout}`;
}

export function createFilter(graph: FilterGraph, name: string, options: string): FilterContext {
  const filter = Filter.getByName(name);
  const context = filter === null ? null : graph.createFilter(filter, name, options);
  if (context === null) throw new Error(`cannot create the filter ${name} with ${options}`);
  return context;
}

/** Writes blocks to standard output through a buffer. Blocks until the parent process reads. */
class BlockWriter {
  readonly #buffer = Buffer.alloc(WRITE_BUFFER_BYTES);
  #filled = 0;

  write(at: number, samples: Buffer): void {
    if (this.#filled + BLOCK_HEADER_BYTES > WRITE_BUFFER_BYTES) this.flush();
    this.#filled = this.#buffer.writeDoubleLE(at, this.#filled);
    this.#filled = this.#buffer.writeUInt32LE(samples.length, this.#filled);
    for (let from = 0; from < samples.length; ) {
      if (this.#filled === WRITE_BUFFER_BYTES) this.flush();
      const copied = samples.copy(this.#buffer, this.#filled, from);
      this.#filled += copied;
      from += copied;
    }
  }

  /** @throws EPIPE if the parent process has exited */
  flush(): void {
    for (let from = 0; from < this.#filled; )
      from += writeSync(STDOUT, this.#buffer, from, this.#filled - from);
    this.#filled = 0;
  }
}
