import { SpeechError } from "../errors.ts";

const MAX_LINE_LENGTH = 300;
const MAX_LINES = 20;

const FAILED_PACKET = /Error while decoding stream|Error submitting packet to decoder|Decoding error:/;
const CORRUPT_PACKET = /Packet corrupt \(stream = (\d+),/;
const PARTIAL_FILE = /partial file/;
/**
 * Messages of demuxers that use the error level only for damage. Missing parameters of a video are excluded, because an
 * ffmpeg without video decoders always reports them.
 */
const DAMAGED =
  /^\[(matroska,webm|ogg|mpegts|avi) @ [^\]]*\] (?!Packet corrupt|Could not find codec parameters for stream \d+ \(Video)/;
const NOT_ALLOWED = /^\[([^ \]]+)(?: @ [^\]]*)?\] .*?Format not on whitelist/;
/** Messages that are printed for every file of a type, or are redundant with the result. */
const UNINFORMATIVE = /Output file is empty|Guessed Channel Layout/i;
const REPEATED = /Last message repeated (\d+) times/;
/** Demuxers of plain text, which is not media. */
const TEXT_DEMUXERS = new Set(["tty", "bin", "xbin", "adf", "idf"]);

/**
 * Parses the messages of libav*, which both decoders write to standard error. Unlike exit codes and error numbers, these
 * messages have not changed since version 5.1.
 */
export class DecoderLog {
  readonly lines: string[] = [];
  failedPackets = 0;
  /** True if the container is damaged or truncated. */
  damaged = false;
  /** True if the duration was estimated from the bit rate. */
  durationGuessed = false;
  /** True if ffprobe omitted a stream because its decoder did not open. */
  decoderRefused = false;
  /** Demuxer of an unsupported container. */
  refusedContainer: string | null = null;
  readonly #stream: number | null;
  #rest = "";
  #lastFailedPacket = false;

  /** @param stream index of the stream that is decoded, whose corrupt packets count; null if none is decoded */
  constructor(stream: number | null) {
    this.#stream = stream;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split(/[\r\n]+/);
    // Limits the memory for an endless line.
    this.#rest = lines.pop()!.slice(0, MAX_LINE_LENGTH);
    for (const line of lines) this.#read(line.slice(0, MAX_LINE_LENGTH));
  }

  end(): void {
    if (this.#rest !== "") this.#read(this.#rest);
    this.#rest = "";
  }

  get last(): string | null {
    return this.lines.at(-1) ?? null;
  }

  /** Returns the error for a file that could not be opened. */
  openError(): SpeechError {
    const container = this.refusedContainer;
    if (container !== null && !TEXT_DEMUXERS.has(container)) {
      return new SpeechError("unsupported_media", `Files of type "${container}" are not supported.`);
    }
    const detail = this.last === null || container !== null ? "" : ` (${this.last})`;
    return new SpeechError("unreadable_media", `The file cannot be read as audio or video${detail}.`);
  }

  #read(line: string): void {
    const repeated = REPEATED.exec(line);
    if (repeated !== null) {
      if (this.#lastFailedPacket) this.failedPackets += Number(repeated[1]);
      return;
    }
    this.#lastFailedPacket = FAILED_PACKET.test(line);
    if (this.#lastFailedPacket) this.failedPackets++;
    if (CORRUPT_PACKET.exec(line)?.[1] === `${this.#stream}`) this.failedPackets++;
    if (PARTIAL_FILE.test(line) || DAMAGED.test(line)) this.damaged = true;
    if (line.includes("Estimating duration from bitrate")) this.durationGuessed = true;
    if (line.includes("Could not open codec for input stream")) this.decoderRefused = true;
    const refused = NOT_ALLOWED.exec(line);
    if (refused !== null) this.refusedContainer = refused[1]!;
    if (line.trim() === "" || UNINFORMATIVE.test(line)) return;
    // Removes memory addresses ("[aac @ 0x55d0c1]" → "aac:") and local paths.
    this.lines.push(line.replace(/^\[([^ \]]+) @ [^\]]*\]/, "$1:").replace(/file:\/.*?: /, ""));
    if (this.lines.length > MAX_LINES) this.lines.shift();
  }
}
