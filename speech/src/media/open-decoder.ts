import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { basename } from "node:path";
import { SpeechError } from "../errors.ts";
import { type FfmpegInstallation, findFfmpeg, openFfmpeg } from "./ffmpeg.ts";
import type { Decoder } from "./media.ts";
import { findNodeAv, openNodeAv } from "./node-av.ts";

export interface OpenDecoderOptions {
  /** Path of ffmpeg, or `none` to use only node-av. By default, ffmpeg is looked up on the PATH. */
  ffmpegPath?: string;
}

const INSTALL_FFMPEG = "Install ffmpeg 5.1 or newer (on Debian: apt install ffmpeg)";
const CONFIGURED_REMEDY =
  "Configure the path of ffmpeg 5.1 or newer with ffprobe in the same folder, or remove the setting.";

/**
 * Opens the configured ffmpeg. If none is configured, opens ffmpeg on the PATH, or else node-av.
 * @throws SpeechError `decoder_unavailable`
 */
export async function openDecoder(options: OpenDecoderOptions = {}): Promise<Decoder> {
  const decoder = isConfigured(options)
    ? await openFfmpeg(options)
    : ((await openSystemFfmpeg(options)) ?? (await openNodeAv()));
  if (decoder !== null) return decoder;
  const advice = (await describeDecoders(options)).map((description) => description.advice);
  throw new SpeechError(
    "decoder_unavailable",
    ["Recordings cannot be decoded on this machine.", ...advice].join(" "),
  );
}

/**
 * Returns a message if an ffmpeg is configured and cannot be used. There is no fallback, because another decoder would
 * hide the wrong setting.
 */
export async function checkConfiguredFfmpeg(options: OpenDecoderOptions): Promise<string | null> {
  if (!isConfigured(options)) return null;
  const found = await findFfmpeg(options);
  return found?.supported ? null : `${await whyUnusable(options.ffmpegPath, found)} ${CONFIGURED_REMEDY}`;
}

async function whyUnusable(ffmpegPath: string, found: FfmpegInstallation | null): Promise<string> {
  if (found !== null) return `${ffmpegPath} is ffmpeg ${found.version}, which is older than 5.1.`;
  if (basename(ffmpegPath) === ffmpegPath) {
    return `No working ${ffmpegPath} with its ffprobe was found on the PATH.`;
  }
  const file = await stat(ffmpegPath).catch(() => null);
  if (file === null) return `${ffmpegPath} does not exist.`;
  if (!file.isFile()) return `${ffmpegPath} is not a file.`;
  const runs = await access(ffmpegPath, constants.X_OK).then(
    () => true,
    () => false,
  );
  return runs
    ? `${ffmpegPath} is not a working ffmpeg with ffprobe in the same folder.`
    : `${ffmpegPath} is not executable.`;
}

function isConfigured(options: OpenDecoderOptions): options is { ffmpegPath: string } {
  return options.ffmpegPath !== undefined && options.ffmpegPath !== "none";
}

async function openSystemFfmpeg(options: OpenDecoderOptions): Promise<Decoder | null> {
  return options.ffmpegPath === "none" ? null : await openFfmpeg(options);
}

export interface DecoderDescription {
  name: "ffmpeg" | "node-av";
  /** Null if it is not installed. */
  version: string | null;
  usable: boolean;
  /** Problem and remedy; null if everything is fine. */
  advice: string | null;
}

export async function describeDecoders(options: OpenDecoderOptions = {}): Promise<DecoderDescription[]> {
  const ffmpeg = await describeFfmpeg(options);
  if (isConfigured(options)) return [ffmpeg];
  const nodeAv = await describeNodeAv();
  if (ffmpeg.usable || nodeAv.usable) return [ffmpeg, nodeAv];
  const allow = options.ffmpegPath === "none" ? "Allow it" : INSTALL_FFMPEG;
  const remedy = nodeAv.version === null ? `${allow}, or install the npm package node-av.` : `${allow}.`;
  return [{ ...ffmpeg, advice: `${ffmpeg.advice} ${remedy}` }, nodeAv];
}

const NO_LIMITS = "prlimit (package util-linux) is missing, so a malicious file can exhaust the memory.";

async function describeFfmpeg(options: OpenDecoderOptions): Promise<DecoderDescription> {
  const missing = { name: "ffmpeg" as const, version: null, usable: false };
  if (options.ffmpegPath === "none") return { ...missing, advice: "The settings disable ffmpeg." };
  const found = await findFfmpeg(options);
  if (isConfigured(options) && !found?.supported) {
    const fault = await checkConfiguredFfmpeg(options);
    return { ...missing, version: found?.version ?? null, advice: fault };
  }
  if (found === null) {
    return { ...missing, advice: "No working ffmpeg with ffprobe was found on the PATH." };
  }
  const { version, supported, prlimit } = found;
  if (!supported)
    return { ...missing, version, advice: `ffmpeg ${version} is not used, because it is older than 5.1.` };
  return { name: "ffmpeg", version, usable: true, advice: prlimit === null ? NO_LIMITS : null };
}

async function describeNodeAv(): Promise<DecoderDescription> {
  const found = await findNodeAv();
  const name = "node-av" as const;
  if (found === null) {
    return {
      name,
      version: null,
      usable: false,
      advice: "The optional npm package node-av is not installed.",
    };
  }
  const { version, fault, prlimit } = found;
  if (fault !== null) {
    return {
      name,
      version,
      usable: false,
      advice: `The npm package node-av ${version} is installed but cannot be loaded: ${fault}`,
    };
  }
  return { name, version, usable: true, advice: prlimit === null ? NO_LIMITS : null };
}
