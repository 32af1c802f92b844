import { availableParallelism, homedir } from "node:os";
import { join, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import type { EngineSetting, EngineSettingsReader } from "../engines/definition.ts";
import {
  CONFIGURABLE_ENGINES,
  ENGINE_SETTINGS,
  type EngineChoice,
  type EngineSpec,
  readConfiguredEngines,
} from "../engines/registry.ts";
import { commandPrefix, SPEECH_PROGRAM } from "../lib/command-prefix.ts";
import { DEFAULT_MODEL_NAME } from "../models/catalog.ts";
import type { SpeechPriority } from "../models/estimated-speed.ts";
import type { ModelSettings } from "./model-commands.ts";
import type { Terminal } from "./terminal.ts";

const MAX_DEFAULT_THREADS = 4;
const PUBLIC_HUB = "https://huggingface.co";
const SECONDS_OF_UNIT = { s: 1, m: 60, h: 3600 };

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

export interface TranscribeSettings {
  /** The program name that messages start with: `subtext-speech`. */
  program: string;
  /** How users run the program, for messages: `npx subtext-speech`. */
  calledAs: string;
  engine: EngineChoice;
  /** Name or absolute folder of the model; null if not given. */
  model: string | null;
  modelsFolder: string;
  /** Engines configured by options or environment variables. */
  configured: EngineSpec[];
  priority: SpeechPriority;
  threads: number;
  memoryLimitBytes: number;
  /** Null to search the PATH. */
  ffmpegPath: string | null;
  maxDurationSeconds: number;
  quiet: boolean;
}

export interface Settings extends TranscribeSettings {
  form: "text" | "json" | "words";
}

type Env = Terminal["env"];

/** @param fail ends the command if options contradict each other */
export function readSettings(options: Options, env: Env, fail: (message: string) => never): Settings {
  const { engine, json, words, model } = options;
  if (json && words) fail("--json and --words cannot be used together");
  const configured = readConfiguredEngines(engineSettings(options, env, fail), true);
  for (const { kind, enabledBy } of CONFIGURABLE_ENGINES) {
    const isConfigured = configured.some((spec) => spec.kind === kind);
    const option = optionOf(enabledBy);
    if (engine === kind && !isConfigured) fail(`--engine ${kind} requires ${option}`);
    if (engine !== kind && engine !== "auto" && isConfigured) {
      fail(`${option} cannot be used with --engine ${engine}`);
    }
  }
  if (model !== undefined && (configured.length > 0 || engine === "moonshine")) {
    fail("--model is only for Whisper models; for servers, use --server-model");
  }
  return {
    program: "subtext-speech",
    calledAs: commandPrefix(SPEECH_PROGRAM),
    form: json ? "json" : words ? "words" : "text",
    engine,
    model: model === undefined ? null : /[\\/]|^\.+$/.test(model) ? resolve(model) : model,
    modelsFolder: modelsFolder(options, env),
    configured,
    // A model given with --model also transcribes English, unless the bundled engine is as accurate.
    priority: model === undefined ? "auto" : "quality",
    threads: threadsOf(options),
    memoryLimitBytes: options.memoryLimit * 1024 ** 2,
    ffmpegPath: options.ffmpeg ?? null,
    maxDurationSeconds: options.maxDuration,
    quiet: options.quiet ?? false,
  };
}

function threadsOf({ threads }: Options): number {
  return threads ?? Math.min(availableParallelism(), MAX_DEFAULT_THREADS);
}

/** Command-line options that replace engine settings. */
const OPTIONS: Partial<Record<string, string>> = {
  SPEECH_SERVERS: "--server",
  SPEECH_SERVER_MODEL: "--server-model",
};

function optionOf(setting: string): string {
  return OPTIONS[setting] ?? setting;
}

function engineSettings(options: Options, env: Env, fail: (message: string) => never): EngineSettingsReader {
  const given = new Map([
    ["SPEECH_SERVERS", options.server?.join(" ")],
    ["SPEECH_SERVER_MODEL", options.serverModel],
  ]);
  const defaults: Partial<Record<string, EngineSetting>> = ENGINE_SETTINGS;
  const text = (name: string) =>
    (given.has(name) ? given.get(name) : env[name]?.trim() || null) ?? defaults[name]?.default ?? null;
  return {
    text,
    list: (name) => (text(name) ?? "").split(/[\s,]+/).filter(Boolean),
    reportInvalid: (name, _value, expected) => fail(`${optionOf(name)}: ${expected}`),
  };
}

/** @throws Error if the hub's address is invalid */
export function readModelSettings(options: Options, env: Env): ModelSettings {
  const url = (env.MODEL_HUB_URL?.trim() || PUBLIC_HUB).replace(/\/+$/, "");
  if (!/^https?:\/\/[^/@]+(\/[^@?#]*)?$/.test(url)) {
    throw new Error(
      "MODEL_HUB_URL must be an http(s) URL without credentials or query; put a token in MODEL_HUB_TOKEN.",
    );
  }
  return {
    folder: modelsFolder(options, env),
    hub: { url, token: env.MODEL_HUB_TOKEN?.trim() || null },
    wanted: options.model ?? DEFAULT_MODEL_NAME,
    encoder: "auto",
    threads: threadsOf(options),
  };
}

/** By default, uses the cache folder of the XDG Base Directory Specification. */
function modelsFolder({ modelsDir }: Options, env: Env): string {
  const cache = env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return resolve(modelsDir ?? (env.MODELS_DIR?.trim() || join(cache, "subtext", "models")));
}

/** Parses `5400`, `90m` or `12h` to seconds. */
export function parseSeconds(text: string): number {
  const match = /^(\d{1,7})([smh]?)$/.exec(text);
  const seconds = Number(match?.[1]) * SECONDS_OF_UNIT[(match?.[2] || "s") as keyof typeof SECONDS_OF_UNIT];
  if (!(seconds > 0))
    throw new InvalidArgumentError(
      "It must be a positive integer of at most 7 digits, in seconds or with the unit m or h, such as 90m.",
    );
  return seconds;
}
