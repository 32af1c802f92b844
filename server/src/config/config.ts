import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import type { EngineChoice, EngineSpec } from "@subtext/speech/engines/registry";
import type { SpeechPriority } from "@subtext/speech/models/estimated-speed";
import type { EncoderChoice } from "@subtext/speech/processes/encoder-choice";
import ipaddr from "ipaddr.js";
import { BUCKET_SETTING, type ObjectStorageConfig, readObjectStorage } from "../storage/backends.ts";
import { ConfigError } from "./config-error.ts";
import type { ChoiceOf, IntegerSetting } from "./settings.ts";
import { type EffectiveSetting, SettingsReader } from "./settings-reader.ts";
import { readEngines, readModelHubUrl, readWhisperModel } from "./speech.ts";
import { readMetricsToken, readTraces, type TracesConfig } from "./telemetry.ts";
import { type EnvFile, findUnknown } from "./unknown-settings.ts";

/** All settings of the service; see `docs/configuration.md`. No other module reads the environment. */
export interface Config {
  role: Role;
  /**
   * How long a process keeps serving requests after its shutdown begins, until load balancers notice that it is not
   * ready.
   */
  drainMs: number;
  host: string;
  port: number;
  /**
   * Where clients reach the service, without a trailing slash. Upload URLs start with it; so do file URLs if there is no
   * bucket.
   */
  publicUrl: string;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustProxy: TrustedProxies;
  /** Absolute path of the folder for the embedded database and, without a bucket, the files. */
  dataFolder: string;
  /** PostgreSQL's URL; null for the embedded database. */
  databaseUrl: string | null;
  /** Where recordings and transcripts are stored; null for the data folder. */
  bucket: ObjectStorageConfig | null;
  engine: EngineChoice;
  /** Whether settings determine the engine and its model, so that the choice made during setup does not apply. */
  isEngineSet: boolean;
  /** Engines that are configured entirely by settings, such as transcription servers. */
  configuredEngines: EngineSpec[];
  /** Name of a Whisper model in the catalog, or the absolute path of a folder that contains one. */
  whisperModel: string;
  /** Whether accuracy or speed decides which engine recognizes clear English. */
  speechPriority: SpeechPriority;
  /** Precision of the encoder that the next download installs. */
  whisperEncoder: EncoderChoice;
  /** Absolute path of the folder for models. */
  modelsFolder: string;
  /** Whether to download a missing model. */
  modelDownload: boolean;
  /** Where models are downloaded from, without a trailing slash. */
  modelHubUrl: string;
  /** The hub's access token; null if it needs none. */
  modelHubToken: string | null;
  /** Path of ffmpeg; `none` to run without ffmpeg; null to search for it. */
  ffmpegPath: string | null;
  speechProcesses: number;
  /** Per speech process. */
  speechThreads: number;
  speechMemoryLimitBytes: number;
  /** Concurrent transcriptions. */
  workerConcurrency: number;
  /** Concurrent transcriptions of one environment, in all processes; null for no limit. */
  maxConcurrentPerEnvironment: number | null;
  maxUploadBytes: number;
  maxDurationSeconds: number;
  uploadExpiryMs: number;
  /** Disk space for buffering uploads before they are sent to the bucket. */
  uploadBufferBytes: number;
  webhookAllowHttp: boolean;
  /** CIDR blocks of private networks that webhooks may reach. */
  webhookAllowNetworks: string[];
  rateLimitPerSecond: number;
  rateLimitBurst: number;
  auditLogDays: number;
  logLevel: LogLevel;
  /** Bearer token that protects the metrics; null if metrics are off. */
  metricsToken: string | null;
  /** Where traces are sent; null if tracing is off. */
  traces: TracesConfig | null;
  /** The effective settings for display, with secrets masked. */
  settings: EffectiveSetting[];
}

/** What a process does: `api` serves requests, `worker` runs transcriptions and deliveries, `all` does both. */
export type Role = ChoiceOf<"ROLE">;

/** Default for the role `api`, whose processes are behind a load balancer. By default, the other roles do not drain. */
const API_DRAIN_SECONDS = 5;

export type LogLevel = ChoiceOf<"LOG_LEVEL">;

/**
 * @param env environment variables, merged with the values of the file
 * @param file the settings file; null if there is none. Unknown names in it are errors.
 * @throws ConfigError with all invalid settings
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  file: EnvFile | null = null,
): Config {
  const settings = new SettingsReader(env, file);
  const config = readAll(settings);
  const faults = [...findUnknown(env, file), ...settings.faults];
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** Use the result only if the reader has no errors. */
function readAll(settings: SettingsReader): Config {
  // Zero is a placeholder: these settings have defaults, and invalid values are errors.
  const integer = (name: IntegerSetting) => settings.integer(name) ?? 0;
  const port = integer("PORT");
  const host = settings.text("HOST") ?? "";
  const dataFolder = resolve(settings.text("DATA_DIR") ?? "");
  const publicUrl = readPublicUrl(settings, { host, port });
  const modelsFolder = resolve(settings.text("MODELS_DIR") ?? join(dataFolder, "models"));
  const speechProcesses = integer("SPEECH_PROCESSES");
  const speechThreads = settings.integer("SPEECH_THREADS") ?? Math.min(availableParallelism(), 4);
  const bucket = readObjectStorage(settings);
  const role = readRole(settings, bucket);
  const drainSeconds = settings.integer("DRAIN_SECONDS") ?? (role === "api" ? API_DRAIN_SECONDS : 0);
  const workerConcurrency = settings.integer("WORKER_CONCURRENCY") ?? speechProcesses;
  return {
    role,
    drainMs: drainSeconds * 1000,
    host,
    port,
    publicUrl,
    trustProxy: readTrustedProxies(settings),
    dataFolder,
    databaseUrl: settings.url("DATABASE_URL", ["postgres:", "postgresql:"]),
    bucket,
    ...readEngines(settings),
    whisperModel: readWhisperModel(settings),
    speechPriority: settings.oneOf("SPEECH_PRIORITY"),
    whisperEncoder: settings.oneOf("WHISPER_ENCODER"),
    modelsFolder,
    modelDownload: settings.oneOf("MODEL_DOWNLOAD") === "auto",
    modelHubUrl: readModelHubUrl(settings),
    modelHubToken: settings.text("MODEL_HUB_TOKEN"),
    ffmpegPath: settings.text("FFMPEG_PATH"),
    speechProcesses,
    speechThreads,
    speechMemoryLimitBytes: integer("SPEECH_MEMORY_LIMIT_MB") * 1024 ** 2,
    workerConcurrency,
    maxUploadBytes: integer("MAX_UPLOAD_BYTES"),
    maxConcurrentPerEnvironment: settings.integer("MAX_CONCURRENT_PER_ENVIRONMENT"),
    maxDurationSeconds: integer("MAX_DURATION_SECONDS"),
    uploadExpiryMs: integer("UPLOAD_EXPIRY_HOURS") * 3_600_000,
    uploadBufferBytes: integer("UPLOAD_BUFFER_BYTES"),
    webhookAllowHttp: settings.flag("WEBHOOK_ALLOW_HTTP"),
    webhookAllowNetworks: readNetworks(settings),
    rateLimitPerSecond: integer("RATE_LIMIT_PER_SECOND"),
    rateLimitBurst: integer("RATE_LIMIT_BURST"),
    auditLogDays: integer("AUDIT_LOG_DAYS"),
    logLevel: settings.oneOf("LOG_LEVEL"),
    metricsToken: readMetricsToken(settings),
    traces: readTraces(settings),
    settings: settings.effective({
      PUBLIC_URL: publicUrl,
      DRAIN_SECONDS: drainSeconds,
      MODELS_DIR: modelsFolder,
      SPEECH_THREADS: speechThreads,
      WORKER_CONCURRENCY: workerConcurrency,
    }),
  };
}

function readRole(settings: SettingsReader, bucket: ObjectStorageConfig | null): Role {
  const role = settings.oneOf("ROLE");
  if (role !== "all" && !settings.differsFromDefault("DATABASE_URL")) {
    settings.reportInvalid(
      "ROLE",
      role,
      "processes with separate roles need a shared PostgreSQL: set DATABASE_URL",
    );
  }
  if (role !== "all" && bucket === null) {
    settings.reportInvalid(
      "ROLE",
      role,
      `processes with separate roles need shared files: set ${BUCKET_SETTING}`,
    );
  }
  return role;
}

/** Returns a URL without a trailing slash. The default is the address that the service listens on. */
function readPublicUrl(settings: SettingsReader, { host, port }: { host: string; port: number }): string {
  const url = settings.url("PUBLIC_URL", ["http:", "https:"]);
  if (url === null) return `http://${urlHost(host)}:${port}`;
  if (new URL(url).pathname !== "/") {
    settings.reportInvalid("PUBLIC_URL", url, "it must not contain a path");
  }
  return new URL(url).origin;
}

/**
 * False to trust no proxy; otherwise the number of proxies in front of the service, or their addresses and networks.
 */
export type TrustedProxies = false | number | string[];

function readTrustedProxies(settings: SettingsReader): TrustedProxies {
  const text = settings.text("TRUST_PROXY") ?? "";
  if (text === "false") return false;
  if (text === "true") return 1;
  if (/^[1-9]$/.test(text)) return Number(text);
  const networks = settings.list("TRUST_PROXY");
  for (const network of networks) {
    if (isIP(network) !== 0 || (isIP(network.replace(/\/\d+$/, "")) !== 0 && ipaddr.isValidCIDR(network)))
      continue;
    const expected =
      "it must be false, the number of proxies in front of the service (1 to 9), or their addresses and networks, such as 10.1.0.0/16";
    settings.reportInvalid("TRUST_PROXY", network, expected);
  }
  return networks;
}

function readNetworks(settings: SettingsReader): string[] {
  const blocks = settings.list("WEBHOOK_ALLOW_NETWORKS");
  for (const block of blocks) {
    if (ipaddr.isValidCIDR(block)) continue;
    const expected = "it must be a list of networks in CIDR notation, such as 10.1.0.0/16";
    settings.reportInvalid("WEBHOOK_ALLOW_NETWORKS", block, expected);
  }
  return blocks;
}

/** Returns the host in the URL of a server that listens on `host`. */
function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
