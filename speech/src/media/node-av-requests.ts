import { setImmediate as turn } from "node:timers/promises";
import {
  AV_DISPOSITION_ATTACHED_PIC,
  AV_DISPOSITION_DEFAULT,
  AV_LOG_ERROR,
  AV_LOG_WARNING,
  AV_NOPTS_VALUE,
  AV_PKT_DATA_ENCRYPTION_INFO,
  AVDISCARD_ALL,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
} from "node-av/constants";
import { Codec, Dictionary, FormatContext, getFFmpegInfo, Log, Packet, type Stream } from "node-av/lib";
import type { AudioTrack, Inspection } from "./backend.ts";
import { CONTAINERS } from "./limits.ts";
import { decodeTrack } from "./node-av-decode.ts";
import type { NodeAvReply, NodeAvRequest } from "./node-av-messages.ts";
import { writePictures } from "./poster/node-av-pictures.ts";
import { PacketClock } from "./timeline.ts";

const MICROSECONDS = 1e6;
/** Packets between turns of the event loop, which detect that the parent process has exited. */
const PACKETS_PER_TURN = 5000;

/** Uses node-av's synchronous API, because the asynchronous API switches threads for each packet. */
export async function handleRequest(request: NodeAvRequest): Promise<NodeAvReply> {
  if (request.kind === "version") return { kind: "version", ffmpeg: getFFmpegInfo().version };
  Log.setLevel(request.kind === "inspect" ? AV_LOG_WARNING : AV_LOG_ERROR);
  const context = open(request.path);
  if (context === null) return { kind: "unopenable" };
  switch (request.kind) {
    case "inspect":
      return { kind: "inspection", inspection: inspect(context) };
    case "measure":
      return { kind: "length", seconds: await measure(context) };
    case "decode": {
      const { stream, codec, startSeconds } = selectTrack(context, request.stream);
      return {
        kind: "decoded",
        failedPackets: await decodeTrack({ ...request, context, stream, codec, startSeconds }),
      };
    }
    case "pictures":
      await writePictures({ ...request, context, ...selectTrack(context, request.stream) });
      return { kind: "pictured" };
  }
}

function selectTrack(
  context: FormatContext,
  index: number,
): { stream: Stream; codec: Codec; startSeconds: number } {
  const stream = context.streams[index];
  const codec = stream === undefined ? null : Codec.findDecoder(stream.codecpar.codecId);
  if (stream === undefined || codec === null) throw new Error(`no decoder for stream ${index}`);
  discardAllBut(context, [stream.index]);
  return { stream, codec, startSeconds: Math.max(0, microseconds(context.startTime) ?? 0) };
}

function open(path: string): FormatContext | null {
  const context = new FormatContext();
  context.allocContext();
  const options = Dictionary.fromObject({
    protocol_whitelist: "file",
    format_whitelist: CONTAINERS,
    // Prevents decoding of video frames, because a frame of 16k × 16k pixels takes 0.7 GB.
    codec_whitelist: audioDecoders().join(","),
  });
  if (context.openInputSync(`file:${path}`, null, options) < 0) return null;
  return context.findStreamInfoSync() < 0 ? null : context;
}

function audioDecoders(): string[] {
  const decoders = Codec.getCodecList().filter(
    (codec) => codec.isDecoder() && codec.type === AVMEDIA_TYPE_AUDIO,
  );
  return decoders.flatMap((codec) => codec.name ?? []);
}

function inspect(context: FormatContext): Inspection {
  const tracks = context.streams.filter((stream) => stream.codecpar.codecType === AVMEDIA_TYPE_AUDIO);
  const encrypted = context.iformat?.name?.startsWith("mov,") ? encryptedStreams(context, tracks) : new Set();
  return {
    streams: context.nbStreams,
    start: microseconds(context.startTime),
    duration: microseconds(context.duration),
    audio: tracks.map((stream) => toTrack(stream, encrypted.has(stream.index))),
    video: context.streams
      .filter((stream) => stream.codecpar.codecType === AVMEDIA_TYPE_VIDEO)
      .map(({ index, disposition }) => ({
        stream: index,
        isDefault: (disposition & AV_DISPOSITION_DEFAULT) !== 0,
        isCover: (disposition & AV_DISPOSITION_ATTACHED_PIC) !== 0,
      })),
  };
}

function toTrack(stream: Stream, encrypted: boolean): AudioTrack {
  const { codecpar, timeBase } = stream;
  const seconds = (ticks: bigint) =>
    ticks === AV_NOPTS_VALUE ? null : (Number(ticks) * timeBase.num) / timeBase.den;
  return {
    stream: stream.index,
    codec: Codec.findDecoder(codecpar.codecId)?.name ?? null,
    channels: codecpar.channels,
    sampleRate: codecpar.sampleRate,
    start: seconds(stream.startTime),
    duration: seconds(stream.duration),
    isDefault: (stream.disposition & AV_DISPOSITION_DEFAULT) !== 0,
    encrypted,
  };
}

/** Only the first packet of a track shows whether it is encrypted. */
function encryptedStreams(context: FormatContext, tracks: readonly Stream[]): Set<number> {
  const unseen = new Set(tracks.map((stream) => stream.index));
  discardAllBut(context, [...unseen]);
  const encrypted = new Set<number>();
  const packet = newPacket();
  while (unseen.size > 0 && context.readFrameSync(packet) >= 0) {
    if (unseen.delete(packet.streamIndex) && packet.getSideData(AV_PKT_DATA_ENCRYPTION_INFO) !== null) {
      encrypted.add(packet.streamIndex);
    }
    packet.unref();
  }
  packet.free();
  return encrypted;
}

async function measure(context: FormatContext): Promise<number> {
  const clock = new PacketClock();
  const timeBases = new Map(context.streams.map((stream) => [stream.index, stream.timeBase]));
  discardAllBut(
    context,
    context.streams.filter(isAudioOrVideo).map((stream) => stream.index),
  );
  const packet = newPacket();
  for (let packets = 1; context.readFrameSync(packet) >= 0; packets++) {
    const timeBase = timeBases.get(packet.streamIndex);
    // Streams that appear later, as in transport streams, are not counted.
    if (timeBase !== undefined) {
      const second = timeBase.num / timeBase.den;
      const at = packet.pts === AV_NOPTS_VALUE ? null : Number(packet.pts) * second;
      clock.add(packet.streamIndex, at, Number(packet.duration) * second);
    }
    packet.unref();
    if (packets % PACKETS_PER_TURN === 0) await turn();
  }
  return clock.seconds;
}

function isAudioOrVideo({ codecpar }: Stream): boolean {
  return codecpar.codecType === AVMEDIA_TYPE_AUDIO || codecpar.codecType === AVMEDIA_TYPE_VIDEO;
}

function discardAllBut(context: FormatContext, kept: readonly number[]): void {
  for (const stream of context.streams) {
    if (!kept.includes(stream.index)) stream.discard = AVDISCARD_ALL;
  }
}

function newPacket(): Packet {
  const packet = new Packet();
  packet.alloc();
  return packet;
}

function microseconds(time: bigint): number | null {
  return time === AV_NOPTS_VALUE ? null : Number(time) / MICROSECONDS;
}
