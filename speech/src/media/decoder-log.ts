import { SpeechError } from "../errors.ts";

/** Longest line and most lines of a decoder's own messages that are kept. */
const LINE_LENGTH = 300;
const LINES_KEPT = 20;

const FAILED_PACKET = /Error while decoding stream|Error submitting packet to decoder|Decoding error:/;
const CORRUPT_PACKET = /Packet corrupt \(stream = (\d+),/;
const PARTIAL_FILE = /partial file/;
/** Containers whose demuxers speak of nothing but damage at the level of errors. */
const DAMAGED = /^\[(matroska,webm|ogg|mpegts|avi) @ [^\]]*\] (?!Packet corrupt)/;
const NOT_ALLOWED = /^\[([^ \]]+)(?: @ [^\]]*)?\] .*?Format not on whitelist/;
/** Said of every file of its kind, or of the outcome alone. */
const TELLS_NOTHING = /Output file is empty|Guessed Channel Layout/i;
const REPEATED = /Last message repeated (\d+) times/;
/** Containers that hold text alone; the file is no media at all. */
const TEXT_DEMUXERS = new Set(["tty", "bin", "xbin", "adf", "idf"]);

/**
 * Reads what libav* writes to standard error. Both decoders speak it: exit codes and error numbers differ
 * between versions, these messages have been the same since 5.1.
 */
export class Complaints {
  readonly lines: string[] = [];
  failedPackets = 0;
  /** True where the container's own structure is broken or ends too early. */
  damaged = false;
  /** True where the length of the file was guessed from its bit rate. */
  durationGuessed = false;
  /** True where ffprobe could not open the decoder of some stream, and so shows none. */
  decoderRefused = false;
  /** Demuxer of a container that is not read. */
  refusedContainer: string | null = null;
  readonly #stream: number | null;
  #rest = "";
  #lastFailedPacket = false;

  /** @param stream the one whose corrupt packets count; null where ffmpeg is not decoding */
  constructor(stream: number | null) {
    this.#stream = stream;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split(/[\r\n]+/);
    // A line without end must not grow without end.
    this.#rest = lines.pop()!.slice(0, LINE_LENGTH);
    for (const line of lines) this.#read(line.slice(0, LINE_LENGTH));
  }

  end(): void {
    if (this.#rest !== "") this.#read(this.#rest);
    this.#rest = "";
  }

  /** The last line that tells more than that something failed. */
  get last(): string | null {
    return this.lines.at(-1) ?? null;
  }

  /** Why a file could not be opened. */
  openError(): SpeechError {
    const container = this.refusedContainer;
    if (container !== null && !TEXT_DEMUXERS.has(container)) {
      return new SpeechError("unsupported_media", `A file of the kind "${container}" is not transcribed.`);
    }
    const detail = this.last === null || container !== null ? "" : ` (${this.last})`;
    return new SpeechError("unreadable_media", `The file can not be read as audio or video${detail}.`);
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
    // "[aac @ 0x55d0c1]" → "aac": addresses mean nothing to people. Paths of this machine are left out too.
    this.lines.push(line.replace(/^\[([^ \]]+) @ [^\]]*\]/, "$1:").replace(/file:\/.*?: /, ""));
    if (this.lines.length > LINES_KEPT) this.lines.shift();
  }
}
