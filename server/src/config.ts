import { availableParallelism } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { ENGINE_CHOICES, type EngineChoice } from "@subtext/speech/choose-engines";
import { DEFAULT_MODEL_NAME, KNOWN_MODELS, knownModel } from "@subtext/speech/models/catalogue";
import ipaddr from "ipaddr.js";
import type { BucketConfig } from "./storage/bucket.ts";

/** Every setting of the service; `.env.example` explains them, and nothing else reads the environment. */
export interface Config {
  role: Role;
  host: string;
  port: number;
  /** Where clients reach the service, without a slash at its end; file URLs begin with it. */
  publicUrl: string;
  /** Whether a reverse proxy stands before the service, whose `X-Forwarded-*` headers are to be believed. */
  trustProxy: boolean;
  /** Absolute path of the folder that holds everything in embedded mode. */
  dataFolder: string;
  /** PostgreSQL's URL; null for the embedded database. */
  databaseUrl: string | null;
  /** Where recordings and transcripts are kept; null for the data folder. */
  bucket: BucketConfig | null;
  engine: EngineChoice;
  /** Transcription servers elsewhere, and what they call the model; null where none is named. */
  speechServers: { servers: { url: string; apiKey: string | null }[]; model: string } | null;
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
  webhookAllowHttp: boolean;
  /** CIDR blocks of private networks that webhooks may reach all the same. */
  webhookAllowNetworks: string[];
  rateLimitPerSecond: number;
  rateLimitBurst: number;
  logLevel: LogLevel;
  /** What a scrape of the metrics must show; null where there are none. */
  metricsToken: string | null;
  /** Where traces are sent; null where none are made. */
  traces: TracesConfig | null;
}

export interface TracesConfig {
  /** Of the collector, without a slash at its end. */
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  /** Which part of all traces is sent, 0 … 1. */
  sampledRatio: number;
}

/** What a process does: requests, transcriptions and deliveries, or both. */
export const ROLES = ["all", "api", "worker"] as const;
export type Role = (typeof ROLES)[number];

const LOG_LEVELS = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A setting that can not be used; the message names it and tells what would do. */
export class ConfigError extends Error {
  constructor(name: string, value: string, expected: string) {
    super(`${name}=${value} can not be used: ${expected}.`);
    this.name = "ConfigError";
  }
}

type Env = Record<string, string | undefined>;

/** @throws ConfigError */
export function readConfig(env: Env): Config {
  const text = (name: string): string | null => env[name]?.trim() || null;

  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const value = text(name);
    if (value === null) return fallback;
    const number = Number(value);
    if (!Number.isInteger(number) || number < min || number > max) {
      throw new ConfigError(name, value, `it must be a whole number from ${min} to ${max}`);
    }
    return number;
  };

  const flag = (name: string): boolean => {
    const value = text(name);
    if (value === null || value === "false") return false;
    if (value === "true") return true;
    throw new ConfigError(name, value, "it must be true or false");
  };

  const url = (name: string, protocols: string[]): string | null => {
    const value = text(name);
    if (value === null) return null;
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      throw new ConfigError(
        name,
        hidePassword(value),
        `it must be a URL that begins with ${protocols.join(" or ")}`,
      );
    }
    return value;
  };

  const networks = (name: string): string[] => {
    const blocks = (text(name) ?? "").split(/[\s,]+/).filter(Boolean);
    const wrong = blocks.find((block) => !ipaddr.isValidCIDR(block));
    if (wrong === undefined) return blocks;
    throw new ConfigError(name, wrong, "it must be networks in CIDR notation, such as 10.1.0.0/16");
  };

  const logLevel = text("LOG_LEVEL") ?? "info";
  if (!isOneOf(LOG_LEVELS, logLevel)) {
    throw new ConfigError("LOG_LEVEL", logLevel, `it must be one of ${LOG_LEVELS.join(", ")}`);
  }
  const engine = text("ENGINE") ?? "auto";
  if (!isOneOf(ENGINE_CHOICES, engine)) {
    throw new ConfigError("ENGINE", engine, `it must be one of ${ENGINE_CHOICES.join(", ")}`);
  }

  const speechServers = readSpeechServers(text);
  if (engine === "openai" && speechServers === null) {
    throw new ConfigError("ENGINE", engine, "it needs the addresses of servers in SPEECH_SERVERS");
  }

  const whisperModel = text("WHISPER_MODEL") ?? DEFAULT_MODEL_NAME;
  if (!isAbsolute(whisperModel) && !knownModel(whisperModel)) {
    const names = KNOWN_MODELS.map(({ name }) => name).join(", ");
    throw new ConfigError("WHISPER_MODEL", whisperModel, `it must be an absolute path or one of ${names}`);
  }
  const modelDownload = text("MODEL_DOWNLOAD") ?? "auto";
  if (modelDownload !== "auto" && modelDownload !== "off") {
    throw new ConfigError("MODEL_DOWNLOAD", modelDownload, "it must be auto or off");
  }
  const modelHubUrl = url("MODEL_HUB_URL", ["http:", "https:"]) ?? "https://huggingface.co";
  if (/^\w+:\/\/[^/]*@|[?#]/.test(modelHubUrl)) {
    throw new ConfigError(
      "MODEL_HUB_URL",
      hidePassword(modelHubUrl),
      "it must be an address alone; MODEL_HUB_TOKEN says who asks",
    );
  }
  const dataFolder = resolve(text("DATA_DIR") ?? "data");

  const port = integer("PORT", 8080, 1, 65535);
  const host = text("HOST") ?? "127.0.0.1";
  const speechProcesses = integer("SPEECH_PROCESSES", 1, 1, 64);
  const publicUrl = url("PUBLIC_URL", ["http:", "https:"]) ?? `http://${urlHost(host)}:${port}`;
  if (new URL(publicUrl).pathname !== "/") {
    throw new ConfigError("PUBLIC_URL", hidePassword(publicUrl), "the service can not live below a path");
  }
  const databaseUrl = url("DATABASE_URL", ["postgres:", "postgresql:"]);
  const bucket = readBucket({ text, url, flag });
  const role = text("ROLE") ?? "all";
  if (!isOneOf(ROLES, role)) throw new ConfigError("ROLE", role, `it must be one of ${ROLES.join(", ")}`);
  if (role !== "all" && databaseUrl === null) {
    throw new ConfigError("ROLE", role, "processes that share the work share a PostgreSQL: set DATABASE_URL");
  }
  if (role !== "all" && bucket === null) {
    throw new ConfigError("ROLE", role, "processes that share the work share their files: set S3_BUCKET");
  }
  return {
    role,
    host,
    port,
    publicUrl: new URL(publicUrl).origin,
    trustProxy: flag("TRUST_PROXY"),
    dataFolder,
    databaseUrl,
    bucket,
    engine,
    speechServers,
    whisperModel,
    modelsFolder: resolve(text("MODELS_DIR") ?? join(dataFolder, "models")),
    modelDownload: modelDownload === "auto",
    modelHubUrl: modelHubUrl.replace(/\/+$/, ""),
    modelHubToken: text("MODEL_HUB_TOKEN"),
    ffmpegPath: text("FFMPEG_PATH"),
    speechProcesses,
    speechThreads: integer("SPEECH_THREADS", Math.min(availableParallelism(), 4), 1, 64),
    speechMemoryLimitBytes: integer("SPEECH_MEMORY_LIMIT_MB", 1600, 256, 1_000_000) * 1024 ** 2,
    workerConcurrency: integer("WORKER_CONCURRENCY", speechProcesses, 1, 64),
    maxUploadBytes: integer("MAX_UPLOAD_BYTES", 10 * 1024 ** 3, 1, Number.MAX_SAFE_INTEGER),
    maxConcurrentPerEnvironment: integer("MAX_CONCURRENT_PER_ENVIRONMENT", 0, 1, 10_000) || null,
    maxDurationSeconds: integer("MAX_DURATION_SECONDS", 12 * 3600, 1, 100 * 3600),
    uploadExpiryMs: integer("UPLOAD_EXPIRY_HOURS", 24, 1, 10_000) * 3_600_000,
    webhookAllowHttp: flag("WEBHOOK_ALLOW_HTTP"),
    webhookAllowNetworks: networks("WEBHOOK_ALLOW_NETWORKS"),
    rateLimitPerSecond: integer("RATE_LIMIT_PER_SECOND", 10, 1, 1_000_000),
    rateLimitBurst: integer("RATE_LIMIT_BURST", 60, 1, 1_000_000),
    logLevel,
    metricsToken: readMetricsToken(text),
    traces: readTraces({ text, url }),
  };
}

/** Long enough not to be guessed, and of what a header may hold. */
const METRICS_TOKEN = /^[\x21-\x7e]{16,}$/;

function readMetricsToken(text: (name: string) => string | null): string | null {
  const token = text("METRICS_TOKEN");
  if (token === null || METRICS_TOKEN.test(token)) return token;
  throw new ConfigError(
    "METRICS_TOKEN",
    "…",
    "it must be 16 or more letters, digits and signs, without spaces",
  );
}

/** By the names that OpenTelemetry gives them. */
function readTraces({
  text,
  url,
}: {
  text: (name: string) => string | null;
  url: (name: string, protocols: string[]) => string | null;
}): TracesConfig | null {
  const endpoint = url("OTEL_EXPORTER_OTLP_ENDPOINT", ["http:", "https:"]);
  const given = text("OTEL_EXPORTER_OTLP_HEADERS") ?? "";
  const serviceName = text("OTEL_SERVICE_NAME") ?? "subtext";
  const ratio = text("OTEL_TRACES_SAMPLER_ARG") ?? "1";
  // The others may be there for other programs.
  if (endpoint === null) return null;
  const sampledRatio = Number(ratio);
  if (!(sampledRatio >= 0 && sampledRatio <= 1)) {
    throw new ConfigError("OTEL_TRACES_SAMPLER_ARG", ratio, "it must be a number from 0 to 1");
  }
  const pairs = given.split(",").filter((pair) => pair.trim() !== "");
  const headers = pairs.map((pair): [string, string] => {
    const match = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x20-\x7e]*?)\s*$/.exec(pair);
    if (!match) {
      throw new ConfigError("OTEL_EXPORTER_OTLP_HEADERS", "…", "it must be name=value, with commas between");
    }
    return [match[1]!, decodeHeader(match[2]!)];
  });
  return {
    endpoint: endpoint.replace(/\/+$/, ""),
    headers: Object.fromEntries(headers),
    serviceName,
    sampledRatio,
  };
}

/** Its values are percent-encoded, as in the header `baggage`. */
function decodeHeader(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function isOneOf<T extends string>(known: readonly T[], text: string): text is T {
  return (known as readonly string[]).includes(text);
}

const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const BUCKET_PREFIX = /^([A-Za-z0-9_.-]+\/)*$/;
const BUCKET_SETTINGS = [
  "S3_ENDPOINT",
  "S3_PUBLIC_ENDPOINT",
  "S3_ACCESS_KEY_ID",
  "S3_SECRET_ACCESS_KEY",
  "S3_PREFIX",
];

function readBucket({
  text,
  url,
  flag,
}: {
  text: (name: string) => string | null;
  url: (name: string, protocols: string[]) => string | null;
  flag: (name: string) => boolean;
}): BucketConfig | null {
  const name = text("S3_BUCKET");
  const region = text("S3_REGION") ?? "us-east-1";
  const forcePathStyle = flag("S3_FORCE_PATH_STYLE");
  if (name === null) {
    const alone = BUCKET_SETTINGS.find((setting) => text(setting) !== null);
    if (alone) throw new ConfigError(alone, "…", "it tells of a bucket that S3_BUCKET does not name");
    return null;
  }
  if (!BUCKET_NAME.test(name)) throw new ConfigError("S3_BUCKET", name, "it must be the name of a bucket");
  const endpoint = (setting: string) => {
    const address = url(setting, ["http:", "https:"]);
    if (address === null) return null;
    const { origin, pathname, search, username, password } = new URL(address);
    if (pathname === "/" && !search && !username && !password) return origin;
    throw new ConfigError(setting, hidePassword(address), "it must be an address alone, without path or key");
  };
  const accessKeyId = text("S3_ACCESS_KEY_ID");
  const secretAccessKey = text("S3_SECRET_ACCESS_KEY");
  if ((accessKeyId === null) !== (secretAccessKey === null)) {
    const [given, lacking] =
      accessKeyId === null
        ? ["S3_SECRET_ACCESS_KEY", "S3_ACCESS_KEY_ID"]
        : ["S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"];
    throw new ConfigError(given, "…", `it goes together with ${lacking}`);
  }
  const given = text("S3_PREFIX") ?? "";
  const prefix = given === "" || given.endsWith("/") ? given : `${given}/`;
  if (!BUCKET_PREFIX.test(prefix) || prefix.length > 200) {
    throw new ConfigError("S3_PREFIX", given, "it must be made of A-Z, a-z, 0-9, _, ., - and /");
  }
  return {
    name,
    region,
    endpoint: endpoint("S3_ENDPOINT"),
    publicEndpoint: endpoint("S3_PUBLIC_ENDPOINT"),
    forcePathStyle,
    credentials: accessKeyId !== null && secretAccessKey !== null ? { accessKeyId, secretAccessKey } : null,
    prefix,
  };
}

/** One key for all servers, or one for each. */
function readSpeechServers(text: (name: string) => string | null): Config["speechServers"] {
  const list = (name: string) => (text(name) ?? "").split(/[\s,]+/).filter(Boolean);
  const urls = list("SPEECH_SERVERS");
  const keys = list("SPEECH_SERVER_KEYS");
  const model = text("SPEECH_SERVER_MODEL") ?? "whisper-1";
  for (const url of urls) {
    const protocol = URL.canParse(url) ? new URL(url).protocol : null;
    if (protocol !== "http:" && protocol !== "https:") {
      throw new ConfigError(
        "SPEECH_SERVERS",
        hidePassword(url),
        "it must be addresses that begin with http: or https:",
      );
    }
  }
  if (keys.length > 1 && keys.length !== urls.length) {
    throw new ConfigError(
      "SPEECH_SERVER_KEYS",
      "…",
      `it must be one key, or one for each of ${urls.length} servers`,
    );
  }
  if (urls.length === 0) return null;
  return {
    servers: urls.map((url, place) => ({ url, apiKey: keys[place] ?? keys[0] ?? null })),
    model,
  };
}

/** An address to reach what listens on `host`. */
function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

function hidePassword(url: string): string {
  return url.replace(/\/\/.*@/s, "//…@");
}
