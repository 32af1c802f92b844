import { basename, dirname, join } from "node:path";
import type { AudioTrack, Backend, DecodeRequest, Inspection, RunningDecode } from "./backend.ts";
import { decoderOf } from "./decode.ts";
import type { DecoderLog } from "./decoder-log.ts";
import { type ChildOptions, DecoderProcess } from "./decoder-process.ts";
import { downmixFilters } from "./downmix.ts";
import { CONTAINERS, decodeTimeoutSeconds, fileBytes, MAX_PIXELS } from "./limits.ts";
import { readMatroskaBlocks } from "./matroska-blocks.ts";
import type { Decoder } from "./media.ts";
import { PacketClock } from "./timeline.ts";

export interface FfmpegOptions {
  /** The ffmpeg to use, with `ffprobe` beside it. By default both are searched for in the usual folders. */
  ffmpegPath?: string;
}

/** An installed ffmpeg. */
export interface FfmpegInstallation {
  ffmpeg: string;
  ffprobe: string;
  /** As reported: `5.1.9-0+deb12u1`. */
  version: string;
  /** True from 5.1 on. */
  supported: boolean;
  /** The program that limits memory and CPU time; null if it is missing (it is part of util-linux). */
  prlimit: string | null;
}

/** libavformat of ffmpeg 5.1; builds from git have no other version number. */
const OLDEST_LIBAVFORMAT = [59, 27] as const;
const SHORT_SECONDS = 30;
/** Disables ffmpeg's timestamp corrections; `timeline.ts` corrects them in the same way for every decoder. */
const NEVER = "1000000000";

/** Opens a decoder that runs the system's ffmpeg; null if there is none, or only one older than 5.1. */
export async function openFfmpeg(options: FfmpegOptions = {}): Promise<Decoder | null> {
  const found = await findFfmpeg(options);
  return found?.supported ? decoderOf(new FfmpegBackend(found)) : null;
}

export async function findFfmpeg(options: FfmpegOptions = {}): Promise<FfmpegInstallation | null> {
  const ffmpeg = options.ffmpegPath ?? "ffmpeg";
  const ffprobe = join(dirname(ffmpeg), basename(ffmpeg).replace("ffmpeg", "ffprobe"));
  const [said, probeSaid, prlimitSaid] = await Promise.all([
    versionText(ffmpeg, ["-version"]),
    versionText(options.ffmpegPath === undefined ? "ffprobe" : ffprobe, ["-version"]),
    versionText("prlimit", ["--version"]),
  ]);
  const version = /^ffmpeg version (\S+)/.exec(said ?? "")?.[1];
  if (said === null || version === undefined || !probeSaid?.startsWith("ffprobe version")) return null;
  return {
    ffmpeg,
    ffprobe: options.ffmpegPath === undefined ? "ffprobe" : ffprobe,
    version,
    supported: isSupported(said),
    prlimit: prlimitSaid?.includes("util-linux") ? "prlimit" : null,
  };
}

function isSupported(said: string): boolean {
  const [, major, minor] = /libavformat\s+(\d+)\.\s*(\d+)/.exec(said) ?? [];
  const [oldestMajor, oldestMinor] = OLDEST_LIBAVFORMAT;
  return Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor);
}

/** Output of a program's version option; null if it cannot be run. */
export async function versionText(command: string, args: readonly string[]): Promise<string | null> {
  const signal = AbortSignal.timeout(SHORT_SECONDS * 1000);
  const options = { command, args, prlimit: null, timeoutSeconds: SHORT_SECONDS, signal };
  return new DecoderProcess({ ...options, memory: "address-space" }).text().catch(() => null);
}

type StartOptions = Pick<ChildOptions, "timeoutSeconds" | "signal" | "stream">;

class FfmpegBackend implements Backend {
  readonly name: string;
  readonly #found: FfmpegInstallation;

  constructor(found: FfmpegInstallation) {
    this.#found = found;
    this.name = `ffmpeg ${/^\d+(\.\d+)*/.exec(found.version)?.[0] ?? found.version}`;
  }

  async inspect(path: string, signal: AbortSignal): Promise<Inspection> {
    const shown = ["-v", "warning", "-show_entries", INSPECTED, ...FIRST_PACKETS, "-of", "json"];
    const { result, complaints } = await this.#ffprobe(shown, path, signal, (child) => child.text());
    const headers = parseHeaders(result);
    // The exit code is less informative, because ffprobe may also fail after complete output.
    if (headers?.format === undefined) throw complaints.openError();
    const { format, streams } = headers;
    const audio = (streams ?? []).filter((stream) => stream.codec_type === "audio").map(toTrack);
    if (format.format_name?.startsWith("mov,")) {
      for (const track of audio) {
        const first = headers.packets?.find(({ stream_index }) => stream_index === track.stream);
        track.encrypted = first ? isEncrypted(first) : await this.#isEncrypted(path, track.stream, signal);
      }
    }
    return {
      streams: format.nb_streams ?? 0,
      start: toSeconds(format.start_time),
      duration: complaints.durationGuessed ? null : toSeconds(format.duration),
      audio,
    };
  }

  /** For a track whose first packet is late in the file. */
  async #isEncrypted(path: string, stream: number, signal: AbortSignal): Promise<boolean> {
    const shown = ["-select_streams", `${stream}`, "-read_intervals", "%+#1", "-show_packets", "-of", "json"];
    const { result } = await this.#ffprobe(["-v", "error", ...shown], path, signal, (child) => child.text());
    return parseHeaders(result)?.packets?.some(isEncrypted) ?? false;
  }

  async measure(path: string, signal: AbortSignal): Promise<number> {
    const shown = [
      "-show_entries",
      "packet=codec_type,stream_index,pts_time,duration_time",
      "-of",
      "compact",
    ];
    const { result } = await this.#ffprobe(["-v", "error", ...shown], path, signal, (child) =>
      measurePackets(child.output()),
    );
    return result;
  }

  /**
   * ffprobe opens a decoder for every stream and gives up if one refuses, as the video decoder does for
   * oversized frames; then it runs again without that limit, bounded by the memory limit.
   */
  async #ffprobe<Result>(
    shown: string[],
    path: string,
    signal: AbortSignal,
    read: (child: DecoderProcess) => Promise<Result>,
  ): Promise<{ result: Result; complaints: DecoderLog }> {
    const timeoutSeconds = decodeTimeoutSeconds(await fileBytes(path), 0);
    for (const pixels of [PIXEL_LIMIT, []]) {
      const args = [...pixels, ...INPUT_LIMITS, ...shown, input(path)];
      const child = this.#start(this.#found.ffprobe, args, { timeoutSeconds, signal });
      const result = await read(child);
      const { complaints } = child;
      if (!complaints.decoderRefused || pixels.length === 0) return { result, complaints };
    }
    throw new Error("unreachable");
  }

  decode(path: string, request: DecodeRequest): RunningDecode {
    let child: DecoderProcess | null = null;
    const start = async () => {
      const { stream, signal, durationSeconds } = request;
      const timeoutSeconds = decodeTimeoutSeconds(await fileBytes(path), durationSeconds);
      const args = decodeArguments(path, request);
      child = this.#start(this.#found.ffmpeg, args, { timeoutSeconds, signal, stream });
      return child;
    };
    return {
      blocks: (async function* () {
        const started = await start();
        yield* readMatroskaBlocks(started.output());
      })(),
      report: () => ({
        failedPackets: child!.complaints.failedPackets,
        damaged: child!.complaints.damaged,
        complaint: child!.complaints.last,
      }),
    };
  }

  #start(command: string, args: string[], options: StartOptions): DecoderProcess {
    const { prlimit } = this.#found;
    return new DecoderProcess({ command, args, prlimit, memory: "address-space", ...options });
  }
}

/** With the scheme, because a name may begin with a dash or contain a colon. */
function input(path: string): string {
  return `file:${path}`;
}

// Without the list of formats, a playlist named `.mp4` could read other local files.
const INPUT_LIMITS = ["-protocol_whitelist", "file", "-format_whitelist", CONTAINERS];
const PIXEL_LIMIT = ["-max_pixels", `${MAX_PIXELS}`];

function decodeArguments(path: string, { stream, channels, trackChannels }: DecodeRequest): string[] {
  const filters = downmixFilters(trackChannels, channels).map(({ name, options }) => `${name}=${options}`);
  return [
    ...["-nostdin", "-v", "warning", ...PIXEL_LIMIT, ...INPUT_LIMITS],
    ...["-dts_error_threshold", NEVER, "-dts_delta_threshold", NEVER],
    ...["-i", input(path), "-map", `0:${stream}`, "-vn", "-sn", "-dn"],
    ...["-af", filters.join(","), "-c:a", "pcm_f32le"],
    // Checksums are useless in a pipe and take a tenth of its time.
    ...["-avoid_negative_ts", "disabled", "-f", "matroska", "-write_crc32", "0", "pipe:1"],
  ];
}

const INSPECTED =
  "format=format_name,nb_streams,start_time,duration:" +
  "stream=index,codec_type,codec_name,channels,sample_rate,start_time,duration:stream_disposition=default";

/**
 * Only a track's first packet shows whether it is encrypted. Requesting it together with the headers saves
 * another start of the program, which costs more than reading them.
 */
const FIRST_PACKETS = ["-show_packets", "-read_intervals", "%+#64"];

/** Used part of ffprobe's JSON; any field may be missing. */
interface Headers {
  packets?: HeaderPacket[];
  format?: { format_name?: string; nb_streams?: number; start_time?: string; duration?: string };
  streams?: HeaderStream[];
}

interface HeaderPacket {
  stream_index?: number;
  side_data_list?: { side_data_type?: string }[];
}

interface HeaderStream {
  index: number;
  codec_type?: string;
  codec_name?: string;
  channels?: number;
  sample_rate?: string;
  start_time?: string;
  duration?: string;
  disposition?: { default?: number };
}

function parseHeaders(json: string): Headers | null {
  try {
    return JSON.parse(json) as Headers;
  } catch {
    return null;
  }
}

function isEncrypted({ side_data_list }: HeaderPacket): boolean {
  return side_data_list?.some(({ side_data_type }) => side_data_type === "Encryption info") ?? false;
}

function toTrack(stream: HeaderStream): AudioTrack {
  return {
    stream: stream.index,
    codec: stream.codec_name === undefined || stream.codec_name === "unknown" ? null : stream.codec_name,
    channels: stream.channels ?? 0,
    sampleRate: Number(stream.sample_rate ?? 0),
    start: toSeconds(stream.start_time),
    duration: toSeconds(stream.duration),
    isDefault: stream.disposition?.default === 1,
    encrypted: false,
  };
}

function toSeconds(text: string | undefined): number | null {
  const seconds = Number.parseFloat(text ?? "");
  return Number.isFinite(seconds) ? seconds : null;
}

/** Seconds spanned by the packets of audio and video, from ffprobe's `compact` lines. */
async function measurePackets(bytes: AsyncIterable<Buffer>): Promise<number> {
  const clock = new PacketClock();
  for await (const line of linesOf(bytes)) {
    const fields = new Map(line.split("|").map((field) => field.split("=") as [string, string]));
    const type = fields.get("codec_type");
    if (type !== "audio" && type !== "video") continue;
    const duration = toSeconds(fields.get("duration_time")) ?? 0;
    clock.add(Number(fields.get("stream_index")), toSeconds(fields.get("pts_time")), duration);
  }
  return clock.seconds;
}

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of bytes) {
    const lines = (rest + chunk.toString("latin1")).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== "") yield rest;
}
