import { SpeechError } from "../errors.ts";

/** Maximum line length and number of lines of a decoder's messages. */
const LINE_LENGTH = 300;
const LINES_KEPT = 20;

const FAILED_PACKET = /Error while decoding stream|Error submitting packet to decoder|Decoding error:/;
const CORRUPT_PACKET = /Packet corrupt \(stream = (\d+),/;
const PARTIAL_FILE = /partial file/;
/** Containers whose demuxers report only damage at the error level. */
const DAMAGED = /^\[(matroska,webm|ogg|mpegts|avi) @ [^\]]*\] (?!Packet corrupt)/;
const NOT_ALLOWED = /^\[([^ \]]+)(?: @ [^\]]*)?\] .*?Format not on whitelist/;
/** Reported for every file of a type, or redundant with the result. */
const TELLS_NOTHING = /Output file is empty|Guessed Channel Layout/i;
const REPEATED = /Last message repeated (\d+) times/;
/** Demuxers of plain text; such a file is not media. */
const TEXT_DEMUXERS = new Set(["tty", "bin", "xbin", "adf", "idf"]);

/**
 * Parses what libav* writes to standard error. Both decoders write it: exit codes and error numbers differ
 * between versions, but these messages have been the same since 5.1.
 */
export class DecoderLog {
  readonly lines: string[] = [];
  failedPackets = 0;
  /** True if the container's structure is damaged or ends too early. */
  damaged = false;
  /** True if the duration was estimated from the bit rate. */
  durationGuessed = false;
  /** True if ffprobe could not open the decoder of some stream and therefore omits it. */
  decoderRefused = false;
  /** Demuxer of a container that is not supported. */
  refusedContainer: string | null = null;
  readonly #stream: number | null;
  #rest = "";
  #lastFailedPacket = false;

  /** @param stream the one whose corrupt packets count; null if ffmpeg is not decoding */
  constructor(stream: number | null) {
    this.#stream = stream;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split(/[\r\n]+/);
    // Bounds the memory of a line without end.
    this.#rest = lines.pop()!.slice(0, LINE_LENGTH);
    for (const line of lines) this.#read(line.slice(0, LINE_LENGTH));
  }

  end(): void {
    if (this.#rest !== "") this.#read(this.#rest);
    this.#rest = "";
  }

  /** The last informative line. */
  get last(): string | null {
    return this.lines.at(-1) ?? null;
  }

  /** The error for a file that could not be opened. */
  openError(): SpeechError {
    const container = this.refusedContainer;
    if (container !== null && !TEXT_DEMUXERS.has(container)) {
      return new SpeechError("unsupported_media", `A file of the kind "${container}" is not transcribed.`);
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
    if (line.trim() === "" || TELLS_NOTHING.test(line)) return;
    // "[aac @ 0x55d0c1]" → "aac": addresses mean nothing to people. Local paths are removed too.
    this.lines.push(line.replace(/^\[([^ \]]+) @ [^\]]*\]/, "$1:").replace(/file:\/.*?: /, ""));
    if (this.lines.length > LINES_KEPT) this.lines.shift();
  }
}
