import { SpeechError } from "../errors.ts";
import { findFfmpeg, openFfmpeg } from "./ffmpeg.ts";
import type { Decoder } from "./media.ts";
import { findNodeAv, openNodeAv } from "./node-av.ts";

export interface OpenDecoderOptions {
  /** The ffmpeg to use; `none` leaves it aside. Else it is looked for in the usual folders. */
  ffmpegPath?: string;
}

const REMEDY = "Install ffmpeg 5.1 or newer (on Debian: apt install ffmpeg), or the npm package node-av.";

/**
 * The ffmpeg that was named; where none was, the system's, else node-av.
 * @throws SpeechError `decoder_unavailable`
 */
export async function openDecoder(options: OpenDecoderOptions = {}): Promise<Decoder> {
  const { ffmpegPath } = options;
  const isNamed = ffmpegPath !== undefined && ffmpegPath !== "none";
  if (isNamed) return await openNamedFfmpeg(ffmpegPath);
  const decoder = (await openSystemFfmpeg(options)) ?? (await openNodeAv());
  if (decoder === null) {
    throw new SpeechError("decoder_unavailable", `Recordings can not be decoded on this machine. ${REMEDY}`);
  }
  return decoder;
}

/** Whoever names one wants that one: another in its place would hide that it is not there. */
async function openNamedFfmpeg(ffmpegPath: string): Promise<Decoder> {
  const decoder = await openFfmpeg({ ffmpegPath });
  if (decoder !== null) return decoder;
  const { version, advice } = await describeFfmpeg({ ffmpegPath });
  const which = version === null ? "" : `ffmpeg ${version}: `;
  throw new SpeechError("decoder_unavailable", `${which}${advice} ${REMEDY}`);
}

async function openSystemFfmpeg(options: OpenDecoderOptions): Promise<Decoder | null> {
  return options.ffmpegPath === "none" ? null : await openFfmpeg(options);
}

/** One line of `doctor`'s answer. */
export interface DecoderDescription {
  name: "ffmpeg" | "node-av";
  /** Null where it is not installed. */
  version: string | null;
  usable: boolean;
  /** What to know or to do; null where all is well. */
  advice: string | null;
}

/** What there is to decode with on this machine, in the order in which it is chosen. */
export async function describeDecoders(options: OpenDecoderOptions = {}): Promise<DecoderDescription[]> {
  const [ffmpeg, nodeAv] = await Promise.all([describeFfmpeg(options), describeNodeAv()]);
  return ffmpeg.usable || nodeAv.usable ? [ffmpeg, nodeAv] : [{ ...ffmpeg, advice: REMEDY }, nodeAv];
}

const NO_LIMITS =
  "There is no prlimit (package util-linux), so a hostile file may take as much memory as it wants.";

async function describeFfmpeg(options: OpenDecoderOptions): Promise<DecoderDescription> {
  const missing = { name: "ffmpeg" as const, version: null, usable: false };
  if (options.ffmpegPath === "none") return { ...missing, advice: "It is left aside by the settings." };
  const found = await findFfmpeg(options);
  if (found === null) {
    const where = options.ffmpegPath ?? "the usual folders";
    return { ...missing, advice: `No ffmpeg with its ffprobe was found at ${where}.` };
  }
  const { version, supported, prlimit } = found;
  if (!supported) return { ...missing, version, advice: "It is older than 5.1 and not used." };
  return { name: "ffmpeg", version, usable: true, advice: prlimit === null ? NO_LIMITS : null };
}

async function describeNodeAv(): Promise<DecoderDescription> {
  const found = await findNodeAv();
  const name = "node-av" as const;
  if (found === null) {
    return { name, version: null, usable: false, advice: "The optional npm package is not installed." };
  }
  const { version, fault, prlimit } = found;
  if (fault !== null) {
    return { name, version, usable: false, advice: `It is installed but does not load here: ${fault}` };
  }
  return { name, version, usable: true, advice: prlimit === null ? NO_LIMITS : null };
}
