import { basename, dirname, join } from "node:path";
import type {
  AudioTrack,
  Backend,
  DecodeRequest,
  Inspection,
  PictureRequest,
  RunningDecode,
} from "./backend.ts";
import { decoderOf } from "./decode.ts";
import type { DecoderLog } from "./decoder-log.ts";
import { type ChildOptions, DecoderProcess } from "./decoder-process.ts";
import { downmixFilters } from "./downmix.ts";
import { CONTAINERS, decodeTimeoutSeconds, fileBytes, MAX_PIXELS, pictureTimeoutSeconds } from "./limits.ts";
import { readMatroskaBlocks } from "./matroska-blocks.ts";
import type { Decoder } from "./media.ts";
import {
  PICTURE_INTERVAL_SECONDS,
  PICTURE_QUANTIZER,
  pictureFilters,
  splitPictures,
} from "./poster/pictures.ts";
import { PacketClock } from "./timeline.ts";

export interface FfmpegOptions {
  /** Path of ffmpeg, with ffprobe in the same folder. By default, both are looked up on the PATH. */
  ffmpegPath?: string;
}

export interface FfmpegInstallation {
  ffmpeg: string;
  ffprobe: string;
  /** As reported: `5.1.9-0+deb12u1`. */
  version: string;
  /** True for 5.1 or newer. */
  supported: boolean;
  /** Program of util-linux that limits memory and CPU time; null if it is missing. */
  prlimit: string | null;
}

/** Version of libavformat in ffmpeg 5.1. Builds from git have no other version number. */
const OLDEST_LIBAVFORMAT = [59, 27] as const;
const SHORT_SECONDS = 30;
/** Disables ffmpeg's timestamp corrections, because `timeline.ts` corrects timestamps for all decoders. */
const NEVER = "1000000000";

/** Returns null if ffmpeg is missing or older than 5.1. */
export async function openFfmpeg(options: FfmpegOptions = {}): Promise<Decoder | null> {
  const found = await findFfmpeg(options);
  return found?.supported ? decoderOf(new FfmpegBackend(found)) : null;
}

export async function findFfmpeg(options: FfmpegOptions = {}): Promise<FfmpegInstallation | null> {
  const ffmpeg = options.ffmpegPath ?? "ffmpeg";
  const ffprobe = join(dirname(ffmpeg), basename(ffmpeg).replace("ffmpeg", "ffprobe"));
  const [ffmpegText, ffprobeText, prlimitText] = await Promise.all([
    versionText(ffmpeg, ["-version"]),
    versionText(options.ffmpegPath === undefined ? "ffprobe" : ffprobe, ["-version"]),
    versionText("prlimit", ["--version"]),
  ]);
  const version = /^ffmpeg version (\S+)/.exec(ffmpegText ?? "")?.[1];
  if (ffmpegText === null || version === undefined || !ffprobeText?.startsWith("ffprobe version"))
    return null;
  return {
    ffmpeg,
    ffprobe: options.ffmpegPath === undefined ? "ffprobe" : ffprobe,
    version,
    supported: isSupported(ffmpegText),
    prlimit: prlimitText?.includes("util-linux") ? "prlimit" : null,
  };
}

function isSupported(versionOutput: string): boolean {
  const [, major, minor] = /libavformat\s+(\d+)\.\s*(\d+)/.exec(versionOutput) ?? [];
  const [oldestMajor, oldestMinor] = OLDEST_LIBAVFORMAT;
  return Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor);
}

/** Returns null if the program cannot be run. */
export async function versionText(command: string, args: readonly string[]): Promise<string | null> {
  const signal = AbortSignal.timeout(SHORT_SECONDS * 1000);
  const options = { command, args, prlimit: null, timeoutSeconds: SHORT_SECONDS, signal };
  return new DecoderProcess({ ...options, memory: "address-space" }).text().catch(() => null);
}

type StartOptions = Pick<ChildOptions, "timeoutSeconds" | "signal" | "stream" | "isBackground">;

class FfmpegBackend implements Backend {
  readonly name: string;
  readonly #found: FfmpegInstallation;

  constructor(found: FfmpegInstallation) {
    this.#found = found;
    this.name = `ffmpeg ${/^\d+(\.\d+)*/.exec(found.version)?.[0] ?? found.version}`;
  }

  async inspect(path: string, signal: AbortSignal): Promise<Inspection> {
    const shown = ["-v", "warning", "-show_entries", INSPECTED, ...FIRST_PACKETS, "-of", "json"];
    const { result, log } = await this.#ffprobe(shown, path, signal, (child) => child.text());
    const headers = parseHeaders(result);
    // The exit code is unreliable, because ffprobe may fail after complete output.
    if (headers?.format === undefined) throw log.openError();
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
      duration: log.durationGuessed ? null : toSeconds(format.duration),
      audio,
      video: (streams ?? [])
        .filter((stream) => stream.codec_type === "video")
        .map(({ index, disposition }) => ({
          stream: index,
          isDefault: disposition?.default === 1,
          isCover: disposition?.attached_pic === 1,
        })),
    };
  }

  /** Returns whether the first packet of a track is encrypted. Needed if it is not among the first packets of the file. */
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
   * ffprobe opens a decoder for every stream and gives up if one fails, e.g. because of the limit for video frames. In
   * this case it runs again without that limit, but still with the memory limit.
   */
  async #ffprobe<Result>(
    shown: string[],
    path: string,
    signal: AbortSignal,
    read: (child: DecoderProcess) => Promise<Result>,
  ): Promise<{ result: Result; log: DecoderLog }> {
    const timeoutSeconds = decodeTimeoutSeconds(await fileBytes(path), 0);
    for (const pixels of [PIXEL_LIMIT, []]) {
      const args = [...pixels, ...INPUT_LIMITS, ...shown, input(path)];
      const child = this.#start(this.#found.ffprobe, args, { timeoutSeconds, signal });
      const result = await read(child);
      const { log } = child;
      if (!log.decoderRefused || pixels.length === 0) return { result, log };
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
        failedPackets: child!.log.failedPackets,
        damaged: child!.log.damaged,
        lastMessage: child!.log.last,
      }),
    };
  }

  async *pictures(path: string, request: PictureRequest): AsyncGenerator<Buffer> {
    const timeoutSeconds = pictureTimeoutSeconds(await fileBytes(path));
    const options = { timeoutSeconds, signal: request.signal, isBackground: true };
    yield* splitPictures(this.#start(this.#found.ffmpeg, pictureArguments(path, request), options).output());
  }

  #start(command: string, args: string[], options: StartOptions): DecoderProcess {
    const { prlimit } = this.#found;
    return new DecoderProcess({ command, args, prlimit, memory: "address-space", ...options });
  }
}

/** The scheme is needed because a name may begin with a dash or contain a colon. */
function input(path: string): string {
  return `file:${path}`;
}

// Without the whitelist of formats, a playlist named `.mp4` could read other local files.
const INPUT_LIMITS = ["-protocol_whitelist", "file", "-format_whitelist", CONTAINERS];
const PIXEL_LIMIT = ["-max_pixels", `${MAX_PIXELS}`];

function decodeArguments(path: string, { stream, channels, trackChannels }: DecodeRequest): string[] {
  const filters = downmixFilters(trackChannels, channels).map(({ name, options }) => `${name}=${options}`);
  return [
    ...["-nostdin", "-v", "warning", ...PIXEL_LIMIT, ...INPUT_LIMITS],
    ...["-dts_error_threshold", NEVER, "-dts_delta_threshold", NEVER],
    ...["-i", input(path), "-map", `0:${stream}`, "-vn", "-sn", "-dn"],
    ...["-af", filters.join(","), "-c:a", "pcm_f32le"],
    // Checksums are useless in a pipe and would take a tenth of the time.
    ...["-avoid_negative_ts", "disabled", "-f", "matroska", "-write_crc32", "0", "pipe:1"],
  ];
}

function pictureArguments(
  path: string,
  { stream, fromSeconds, seconds, maxPictures }: PictureRequest,
): string[] {
  const interval = `isnan(prev_selected_t)+gte(t-prev_selected_t,${PICTURE_INTERVAL_SECONDS})`;
  const filters = pictureFilters().map(({ name, options }) => `${name}=${options}`);
  return [
    // One thread, because each additional thread needs memory for its own frames.
    ...["-nostdin", "-v", "warning", "-threads", "1", ...PIXEL_LIMIT, ...INPUT_LIMITS],
    ...["-noaccurate_seek", "-ss", fromSeconds.toFixed(3), "-t", `${seconds}`],
    ...["-i", input(path), "-map", `0:${stream}`, "-an", "-sn", "-dn"],
    ...["-filter_threads", "1", "-vf", [`select='${interval}'`, ...filters].join(",")],
    ...["-fps_mode", "passthrough", "-frames:v", `${maxPictures}`],
    ...["-c:v", "mjpeg", "-q:v", `${PICTURE_QUANTIZER}`, "-threads", "1", "-f", "mjpeg", "pipe:1"],
  ];
}

const INSPECTED =
  "format=format_name,nb_streams,start_time,duration:" +
  "stream=index,codec_type,codec_name,channels,sample_rate,start_time,duration:stream_disposition=default,attached_pic";

/**
 * Only a track's first packet shows whether it is encrypted. Reading packets together with the headers is faster than
 * running ffprobe twice.
 */
const FIRST_PACKETS = ["-show_packets", "-read_intervals", "%+#64"];

/** The fields of ffprobe's JSON that are used. Any may be missing. */
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
  disposition?: { default?: number; attached_pic?: number };
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

/** Returns the seconds spanned by the packets of audio and video, from ffprobe's `compact` format. */
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
