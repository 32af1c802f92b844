import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { basename } from "node:path";
import { SpeechError } from "../errors.ts";
import { type FfmpegInstallation, findFfmpeg, openFfmpeg } from "./ffmpeg.ts";
import type { Decoder } from "./media.ts";
import { findNodeAv, openNodeAv } from "./node-av.ts";

export interface OpenDecoderOptions {
  /** The ffmpeg to use; `none` disables it. By default it is searched for in the usual folders. */
  ffmpegPath?: string;
}

const REMEDY = "Install ffmpeg 5.1 or newer (on Debian: apt install ffmpeg), or the npm package node-av.";
const REMEDY_OF_NAMED = "Name one of 5.1 or newer, with its ffprobe beside it, or none at all.";

/**
 * Opens the ffmpeg that was named; if none was, the system's, else node-av.
 * @throws SpeechError `decoder_unavailable`
 */
export async function openDecoder(options: OpenDecoderOptions = {}): Promise<Decoder> {
  const decoder = isNamed(options)
    ? await openFfmpeg(options)
    : ((await openSystemFfmpeg(options)) ?? (await openNodeAv()));
  if (decoder !== null) return decoder;
  const fault = await faultOfNamedFfmpeg(options);
  throw new SpeechError(
    "decoder_unavailable",
    fault ?? `Recordings cannot be decoded on this machine. ${REMEDY}`,
  );
}

/**
 * Returns why the named ffmpeg cannot be used and what to do; null if it can, or if none is named. There is
 * no fallback, because another decoder in its place would hide that it is missing.
 */
export async function faultOfNamedFfmpeg(options: OpenDecoderOptions): Promise<string | null> {
  if (!isNamed(options)) return null;
  const found = await findFfmpeg(options);
  return found?.supported ? null : `${await whyUnusable(options.ffmpegPath, found)} ${REMEDY_OF_NAMED}`;
}

async function whyUnusable(ffmpegPath: string, found: FfmpegInstallation | null): Promise<string> {
  if (found !== null) return `${ffmpegPath} is ffmpeg ${found.version}, which is older than 5.1.`;
  // A name without a folder is searched for in the usual ones.
  if (basename(ffmpegPath) === ffmpegPath) {
    return `No ffmpeg with its ffprobe was found as ${ffmpegPath} in the usual folders.`;
  }
  const file = await stat(ffmpegPath).catch(() => null);
  if (file === null) return `There is nothing at ${ffmpegPath}.`;
  if (!file.isFile()) return `${ffmpegPath} is not a file.`;
  const runs = await access(ffmpegPath, constants.X_OK).then(
    () => true,
    () => false,
  );
  return runs
    ? `${ffmpegPath} is not an ffmpeg that runs here with an ffprobe beside it.`
    : `${ffmpegPath} may not be executed.`;
}

function isNamed(options: OpenDecoderOptions): options is { ffmpegPath: string } {
  return options.ffmpegPath !== undefined && options.ffmpegPath !== "none";
}

async function openSystemFfmpeg(options: OpenDecoderOptions): Promise<Decoder | null> {
  return options.ffmpegPath === "none" ? null : await openFfmpeg(options);
}

/** One line of the `doctor` command. */
export interface DecoderDescription {
  name: "ffmpeg" | "node-av";
  /** Null if it is not installed. */
  version: string | null;
  usable: boolean;
  /** What to know or do; null if everything is fine. */
  advice: string | null;
}

/** Describes the decoders on this machine, in order of preference. */
export async function describeDecoders(options: OpenDecoderOptions = {}): Promise<DecoderDescription[]> {
  const ffmpeg = await describeFfmpeg(options);
  if (isNamed(options)) return [ffmpeg];
  const nodeAv = await describeNodeAv();
  return ffmpeg.usable || nodeAv.usable ? [ffmpeg, nodeAv] : [{ ...ffmpeg, advice: REMEDY }, nodeAv];
}

const NO_LIMITS = "prlimit (package util-linux) is missing, so a hostile file may use any amount of memory.";

async function describeFfmpeg(options: OpenDecoderOptions): Promise<DecoderDescription> {
  const missing = { name: "ffmpeg" as const, version: null, usable: false };
  if (options.ffmpegPath === "none") return { ...missing, advice: "It is left aside by the settings." };
  const found = await findFfmpeg(options);
  if (isNamed(options) && !found?.supported) {
    const fault = await faultOfNamedFfmpeg(options);
    return { ...missing, version: found?.version ?? null, advice: fault };
  }
  if (found === null) {
    return { ...missing, advice: "No ffmpeg with its ffprobe was found in the usual folders." };
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
