import { writeSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import {
  AV_CODEC_FLAG_QSCALE,
  AV_CODEC_ID_MJPEG,
  AV_PIX_FMT_YUVJ420P,
  AV_PKT_DATA_DISPLAYMATRIX,
  AVERROR_EAGAIN,
  AVSEEK_FLAG_BACKWARD,
  FF_QP2LAMBDA,
} from "node-av/constants";
import {
  avGetPixFmtName,
  Codec,
  CodecContext,
  Dictionary,
  FFmpegError,
  FilterGraph,
  Frame,
  Packet,
  Rational,
  type Stream,
} from "node-av/lib";
import type { PictureRequest } from "../backend.ts";
import { MAX_PIXELS } from "../limits.ts";
import { createDecoder, createFilter, playbackSeconds, type Track } from "../node-av-decode.ts";
import {
  PICTURE_INTERVAL_SECONDS,
  PICTURE_QUANTIZER,
  type PictureFilter,
  pictureFilters,
} from "./pictures.ts";

/** Packets between turns of the event loop, which detect that the parent process has exited. */
const PACKETS_PER_TURN = 50;
const STDOUT = 1;
const MICROSECONDS = 1e6;

export interface TrackPictures extends Track, Omit<PictureRequest, "stream" | "signal"> {}

/** Decodes frames of one track and writes them to standard output as JPEG files. */
export async function writePictures(request: TrackPictures): Promise<void> {
  const { context, stream, startSeconds, fromSeconds, seconds, maxPictures } = request;
  if (fromSeconds > 0) {
    const at = BigInt(Math.round((startSeconds + fromSeconds) * MICROSECONDS));
    if (context.seekFrameSync(-1, at, AVSEEK_FLAG_BACKWARD) < 0) return;
  }
  const decoder = openDecoder(request);
  if (decoder === null) return;
  const filters = [...rotationFilters(stream), ...pictureFilters()];
  const packet = new Packet();
  packet.alloc();
  const frame = new Frame();
  frame.alloc();
  let pictures = 0;
  let lastSeconds: number | null = null;
  let isDone = false;

  const receive = () => {
    while (!isDone && decoder.receiveFrameSync(frame) >= 0) {
      const at = playbackSeconds(frame, request) ?? Number.NaN;
      if (at >= fromSeconds + seconds) isDone = true;
      else if (lastSeconds === null || at - lastSeconds >= PICTURE_INTERVAL_SECONDS) {
        lastSeconds = at;
        write(toJpeg(frame, filters));
        pictures++;
        isDone = pictures === maxPictures;
      }
      frame.unref();
    }
  };

  for (let packets = 1; !isDone; packets++) {
    const code = context.readFrameSync(packet);
    if (code === AVERROR_EAGAIN) continue;
    if (code < 0) break;
    if (packet.streamIndex === stream.index) {
      decoder.sendPacketSync(packet);
      receive();
    }
    packet.unref();
    if (packets % PACKETS_PER_TURN === 0) await turn();
  }
  decoder.sendPacketSync(null);
  receive();
}

/** Returns null if the codec does not support the track, or if its frames are too large. */
function openDecoder(track: Track): CodecContext | null {
  const decoder = createDecoder(track);
  const limits = Dictionary.fromObject({ max_pixels: `${MAX_PIXELS}` });
  return decoder.open2Sync(track.codec, limits) < 0 ? null : decoder;
}

/** Returns the filters that rotate frames upright, as the ffmpeg program does by default. */
function rotationFilters({ codecpar }: Stream): PictureFilter[] {
  const matrix = codecpar.getCodedSideData(AV_PKT_DATA_DISPLAYMATRIX);
  if (matrix === null || matrix.length < 8) return [];
  // Fixed-point cosine and sine of the angle. Only their signs, and which one is larger, matter.
  const [cosine, sine] = [matrix.readInt32LE(0), matrix.readInt32LE(4)];
  if (Math.abs(cosine) < Math.abs(sine)) {
    return [{ name: "transpose", options: sine > 0 ? "clock" : "cclock" }];
  }
  return cosine >= 0 ? [] : ["hflip", "vflip"].map((name) => ({ name, options: "" }));
}

function toJpeg(frame: Frame, filters: readonly PictureFilter[]): Buffer {
  const { width, height, sampleAspectRatio: sar } = frame;
  const format = avGetPixFmtName(frame.format as Parameters<typeof avGetPixFmtName>[0]);
  const graph = new FilterGraph();
  graph.alloc();
  graph.nbThreads = 1;
  const picture = new Frame();
  picture.alloc();
  try {
    const aspect = sar.num > 0 && sar.den > 0 ? `:pixel_aspect=${sar.num}/${sar.den}` : "";
    const options = `video_size=${width}x${height}:pix_fmt=${format}:time_base=1/1000${aspect}`;
    const source = createFilter(graph, "buffer", options);
    const sink = createFilter(graph, "buffersink", "");
    let last = source;
    for (const { name, options } of filters) {
      const filter = createFilter(graph, name, options);
      FFmpegError.throwIfError(last.link(0, filter, 0), "link");
      last = filter;
    }
    FFmpegError.throwIfError(last.link(0, sink, 0), "link");
    FFmpegError.throwIfError(graph.configSync(), "configure filters");
    FFmpegError.throwIfError(source.buffersrcAddFrameSync(frame), "buffersrc");
    FFmpegError.throwIfError(source.buffersrcAddFrameSync(null), "buffersrc");
    FFmpegError.throwIfError(sink.buffersinkGetFrameSync(picture), "buffersink");
    return encode(picture);
  } finally {
    graph.free();
    picture.free();
  }
}

function encode(picture: Frame): Buffer {
  const codec = Codec.findEncoder(AV_CODEC_ID_MJPEG);
  if (codec === null) throw new Error("there is no JPEG encoder");
  const encoder = new CodecContext();
  encoder.allocContext3(codec);
  encoder.width = picture.width;
  encoder.height = picture.height;
  encoder.pixelFormat = AV_PIX_FMT_YUVJ420P;
  encoder.timeBase = new Rational(1, 1);
  encoder.threadCount = 1;
  encoder.setFlags(AV_CODEC_FLAG_QSCALE);
  encoder.globalQuality = PICTURE_QUANTIZER * FF_QP2LAMBDA;
  FFmpegError.throwIfError(encoder.open2Sync(codec), "open2");
  picture.quality = PICTURE_QUANTIZER * FF_QP2LAMBDA;
  picture.pts = 0n;
  FFmpegError.throwIfError(encoder.sendFrameSync(picture), "sendFrame");
  encoder.sendFrameSync(null);
  const packet = new Packet();
  packet.alloc();
  FFmpegError.throwIfError(encoder.receivePacketSync(packet), "receivePacket");
  const jpeg = Buffer.from(packet.data ?? []);
  packet.free();
  encoder.freeContext();
  return jpeg;
}

/** @throws EPIPE if the parent process has stopped reading */
function write(bytes: Buffer): void {
  for (let from = 0; from < bytes.length; ) from += writeSync(STDOUT, bytes, from, bytes.length - from);
}
