import { availableParallelism, homedir } from "node:os";
import { join, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import type { EngineChoice, EngineSpec } from "../engines/registry.ts";
import { DEFAULT_MODEL_NAME } from "../models/catalog.ts";
import type { ModelSettings } from "./model-commands.ts";
import type { Terminal } from "./terminal.ts";

/** How this program is called, for advice. */
export const CALLED_AS = "npx subtext-speech";

const MAX_DEFAULT_THREADS = 4;
const PUBLIC_HUB = "https://huggingface.co";
const SECONDS_OF_UNIT = { s: 1, m: 60, h: 3600 };

/** Command-line options. */
export interface Options {
  json?: true;
  words?: true;
  engine: EngineChoice;
  model?: string;
  modelsDir?: string;
  server?: string[];
  serverModel: string;
  threads?: number;
  memoryLimit: number;
  ffmpeg?: string;
  maxDuration: number;
  quiet?: true;
}

export interface Settings {
  form: "text" | "json" | "words";
  engine: EngineChoice;
  /** A name, or an absolute path to a folder; null if not given. */
  model: string | null;
  /** Absolute. */
  modelsFolder: string;
  servers: Extract<EngineSpec, { kind: "openai" }> | null;
  threads: number;
  memoryLimitBytes: number;
  /** Null to search for it. */
  ffmpegPath: string | null;
  maxDurationSeconds: number;
  quiet: boolean;
}

type Env = Terminal["env"];

/** @param fail Ends the command if options contradict each other. */
export function readSettings(options: Options, env: Env, fail: (message: string) => never): Settings {
  const { engine, json, words, model, server: urls = [] } = options;
  if (json && words) fail("--json and --words exclude each other");
  if (engine === "openai" && urls.length === 0) fail("--engine openai needs --server");
  if (engine !== "openai" && engine !== "auto" && urls.length > 0) {
    fail(`--server goes with --engine openai, or without --engine, not with ${engine}`);
  }
  if (model !== undefined && (urls.length > 0 || engine === "moonshine")) {
    fail("--model names a Whisper model; for servers use --server-model");
  }
  for (const url of urls) {
    const parsed = URL.parse(url);
    if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) {
      fail("--server is an address that begins with http: or https:");
    }
    if (parsed.username !== "" || parsed.password !== "") {
      fail("--server is an address without a key; SPEECH_SERVER_KEYS holds that");
    }
  }
  const keys = (env.SPEECH_SERVER_KEYS ?? "").split(/[\s,]+/).filter(Boolean);
  if (urls.length > 0 && keys.length > 1 && keys.length !== urls.length) {
    fail("SPEECH_SERVER_KEYS is one key, or one for each --server");
  }
  return {
    form: json ? "json" : words ? "words" : "text",
    engine,
    model: model === undefined ? null : /[\\/]|^\.+$/.test(model) ? resolve(model) : model,
    modelsFolder: modelsFolder(options, env),
    servers:
      urls.length === 0
        ? null
        : {
            kind: "openai",
            servers: urls.map((url, place) => ({ url, apiKey: keys[place] ?? keys[0] ?? null })),
            model: options.serverModel,
            failsIfUnreachable: true,
          },
    threads: options.threads ?? Math.min(availableParallelism(), MAX_DEFAULT_THREADS),
    memoryLimitBytes: options.memoryLimit * 1024 ** 2,
    ffmpegPath: options.ffmpeg ?? null,
    maxDurationSeconds: options.maxDuration,
    quiet: options.quiet ?? false,
  };
}

/** @throws Error if the hub's address is invalid */
export function readModelSettings(options: Options, env: Env): ModelSettings {
  const url = (env.MODEL_HUB_URL?.trim() || PUBLIC_HUB).replace(/\/+$/, "");
  if (!/^https?:\/\/[^/@]+(\/[^@?#]*)?$/.test(url)) {
    throw new Error("MODEL_HUB_URL is an http(s) address alone; MODEL_HUB_TOKEN says who asks.");
  }
  return {
    folder: modelsFolder(options, env),
    hub: { url, token: env.MODEL_HUB_TOKEN?.trim() || null },
    wanted: options.model ?? DEFAULT_MODEL_NAME,
  };
}

/** The cache folder of the XDG Base Directory Specification. */
function modelsFolder({ modelsDir }: Options, env: Env): string {
  const cache = env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return resolve(modelsDir ?? (env.MODELS_DIR?.trim() || join(cache, "subtext", "models")));
}

/** `5400`, `90m`, `12h`; in seconds. */
export function parseSeconds(text: string): number {
  const match = /^(\d{1,7})([smh]?)$/.exec(text);
  const seconds = Number(match?.[1]) * SECONDS_OF_UNIT[(match?.[2] || "s") as keyof typeof SECONDS_OF_UNIT];
  if (!(seconds > 0)) throw new InvalidArgumentError("It is seconds, or a number with m or h: 90m.");
  return seconds;
}
