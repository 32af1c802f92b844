import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import type { EngineChoice } from "@subtext/speech/engines/registry";
import ipaddr from "ipaddr.js";
import { type BucketConfig, readBucket } from "./bucket.ts";
import { ConfigError } from "./config-error.ts";
import { type SettingInForce, SettingsReader } from "./settings-reader.ts";
import { readEngine, readModelHubUrl, readWhisperModel, type SpeechServers } from "./speech.ts";
import { readMetricsToken, readTraces, type TracesConfig } from "./telemetry.ts";
import { type EnvFile, findUnknown } from "./unknown-settings.ts";

/** Every setting of the service; `docs/configuration.md` explains them, and nothing else reads the environment. */
export interface Config {
  role: Role;
  /** How long a process that was told to stop goes on answering, so that a balancer sees that it is no longer ready. */
  drainMs: number;
  host: string;
  port: number;
  /** Where clients reach the service, without a slash at its end; file URLs begin with it. */
  publicUrl: string;
  /** Which proxies may name the client in `X-Forwarded-For`. */
  trustProxy: TrustedProxies;
  /** Absolute path of the folder that holds everything in embedded mode. */
  dataFolder: string;
  /** PostgreSQL's URL; null for the embedded database. */
  databaseUrl: string | null;
  /** Where recordings and transcripts are kept; null for the data folder. */
  bucket: BucketConfig | null;
  engine: EngineChoice;
  /** Transcription servers elsewhere, and what they call the model; null where none is named. */
  speechServers: SpeechServers | null;
  /** Name of a Whisper model of the catalogue, or an absolute path to a folder that holds one. */
  whisperModel: string;
  /** Absolute path of the folder that models are kept in. */
  modelsFolder: string;
  /** Whether the service downloads the model that it lacks. */
  modelDownload: boolean;
  /** Where models are downloaded from, without a slash at its end. */
  modelHubUrl: string;
  /** What the hub asks for; null where it asks for nothing. */
  modelHubToken: string | null;
  /** Absolute path of ffmpeg, `none` to do without one; null to look for it. */
  ffmpegPath: string | null;
  speechProcesses: number;
  /** Threads of each speech process. */
  speechThreads: number;
  speechMemoryLimitBytes: number;
  /** Videos that are transcribed at the same time. */
  workerConcurrency: number;
  /** Videos of one environment that are transcribed at the same time, in all processes; null for any number. */
  maxConcurrentPerEnvironment: number | null;
  maxUploadBytes: number;
  maxDurationSeconds: number;
  uploadExpiryMs: number;
  /** Disk space for parts of uploads that are on their way to the bucket. */
  uploadBufferBytes: number;
  webhookAllowHttp: boolean;
  /** CIDR blocks of private networks that webhooks may reach all the same. */
  webhookAllowNetworks: string[];
  rateLimitPerSecond: number;
  rateLimitBurst: number;
  /** How long entries of the audit log are kept. */
  auditLogDays: number;
  logLevel: LogLevel;
  /** What a scrape of the metrics must show; null where there are none. */
  metricsToken: string | null;
  /** Where traces are sent; null where none are made. */
  traces: TracesConfig | null;
  /** Each setting as it is in force, without secrets: for people to look at. */
  settings: SettingInForce[];
}

/** What a process does: requests, transcriptions and deliveries, or both. */
export const ROLES = ["all", "api", "worker"] as const;
export type Role = (typeof ROLES)[number];

/** Processes of that role alone are several behind a balancer; whoever stops another is not kept waiting. */
const API_DRAIN_SECONDS = 5;

const LOG_LEVELS = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * @param env variables of the environment, and what the file adds to them
 * @param file the file of settings, whose names must all be known; null where there is none
 * @throws ConfigError with every fault that was found
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

/** Of no use where the reader has found faults. */
function readAll(settings: SettingsReader): Config {
  /** Zero stands for what can not be used, or was left out. */
  const integer = (...asked: Parameters<SettingsReader["integer"]>) => settings.integer(...asked) ?? 0;
  const port = integer("PORT", 1, 65535);
  const host = settings.text("HOST") ?? "";
  const dataFolder = resolve(settings.text("DATA_DIR") ?? "");
  const publicUrl = readPublicUrl(settings, { host, port });
  const modelsFolder = resolve(settings.text("MODELS_DIR") ?? join(dataFolder, "models"));
  const speechProcesses = integer("SPEECH_PROCESSES", 1, 64);
  const speechThreads = settings.integer("SPEECH_THREADS", 1, 64) ?? Math.min(availableParallelism(), 4);
  const role = readRole(settings);
  const drainSeconds = settings.integer("DRAIN_SECONDS", 0, 300) ?? (role === "api" ? API_DRAIN_SECONDS : 0);
  const workerConcurrency = settings.integer("WORKER_CONCURRENCY", 1, 64) ?? speechProcesses;
  return {
    role,
    drainMs: drainSeconds * 1000,
    host,
    port,
    publicUrl,
    trustProxy: readTrustedProxies(settings),
    dataFolder,
    databaseUrl: settings.url("DATABASE_URL", ["postgres:", "postgresql:"]),
    bucket: readBucket(settings),
    ...readEngine(settings),
    whisperModel: readWhisperModel(settings),
    modelsFolder,
    modelDownload: settings.oneOf("MODEL_DOWNLOAD", ["auto", "off"]) === "auto",
    modelHubUrl: readModelHubUrl(settings),
    modelHubToken: settings.text("MODEL_HUB_TOKEN"),
    ffmpegPath: settings.text("FFMPEG_PATH"),
    speechProcesses,
    speechThreads,
    speechMemoryLimitBytes: integer("SPEECH_MEMORY_LIMIT_MB", 256, 1_000_000) * 1024 ** 2,
    workerConcurrency,
    maxUploadBytes: integer("MAX_UPLOAD_BYTES", 1, Number.MAX_SAFE_INTEGER),
    maxConcurrentPerEnvironment: settings.integer("MAX_CONCURRENT_PER_ENVIRONMENT", 1, 10_000),
    maxDurationSeconds: integer("MAX_DURATION_SECONDS", 1, 100 * 3600),
    uploadExpiryMs: integer("UPLOAD_EXPIRY_HOURS", 1, 10_000) * 3_600_000,
    uploadBufferBytes: integer("UPLOAD_BUFFER_BYTES", 1, Number.MAX_SAFE_INTEGER),
    webhookAllowHttp: settings.flag("WEBHOOK_ALLOW_HTTP"),
    webhookAllowNetworks: readNetworks(settings),
    rateLimitPerSecond: integer("RATE_LIMIT_PER_SECOND", 1, 1_000_000),
    rateLimitBurst: integer("RATE_LIMIT_BURST", 1, 1_000_000),
    auditLogDays: integer("AUDIT_LOG_DAYS", 1, 36_500),
    logLevel: settings.oneOf("LOG_LEVEL", LOG_LEVELS),
    metricsToken: readMetricsToken(settings),
    traces: readTraces(settings),
    settings: settings.inForce({
      PUBLIC_URL: publicUrl,
      DRAIN_SECONDS: drainSeconds,
      MODELS_DIR: modelsFolder,
      SPEECH_THREADS: speechThreads,
      WORKER_CONCURRENCY: workerConcurrency,
    }),
  };
}

/** Processes that share the work share all that they work on. */
function readRole(settings: SettingsReader): Role {
  const role = settings.oneOf("ROLE", ROLES);
  if (role !== "all" && !settings.isGiven("DATABASE_URL")) {
    settings.refuse("ROLE", role, "processes that share the work share a PostgreSQL: set DATABASE_URL");
  }
  if (role !== "all" && !settings.isGiven("S3_BUCKET")) {
    settings.refuse("ROLE", role, "processes that share the work share their files: set S3_BUCKET");
  }
  return role;
}

/** Without a slash at its end; where the service listens unless told otherwise. */
function readPublicUrl(settings: SettingsReader, { host, port }: { host: string; port: number }): string {
  const url = settings.url("PUBLIC_URL", ["http:", "https:"]);
  if (url === null) return `http://${urlHost(host)}:${port}`;
  if (new URL(url).pathname !== "/") {
    settings.refuse("PUBLIC_URL", url, "the service can not live below a path");
  }
  return new URL(url).origin;
}

/** False for none, the number of proxies in front of the service, or their addresses and networks. */
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
    settings.refuse("TRUST_PROXY", network, expected);
  }
  return networks;
}

function readNetworks(settings: SettingsReader): string[] {
  const blocks = settings.list("WEBHOOK_ALLOW_NETWORKS");
  for (const block of blocks) {
    if (ipaddr.isValidCIDR(block)) continue;
    const expected = "it must be networks in CIDR notation, such as 10.1.0.0/16";
    settings.refuse("WEBHOOK_ALLOW_NETWORKS", block, expected);
  }
  return blocks;
}

/** An address to reach what listens on `host`. */
function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
