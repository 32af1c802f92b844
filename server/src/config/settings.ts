import { ENGINE_SETTINGS } from "@subtext/speech/engines/registry";
import { DEFAULT_MODEL_NAME } from "@subtext/speech/models/catalog";

/** The static description of a setting. */
export interface SettingFacts {
  /** The default as it would be written; null if there is none or it is derived from other settings. */
  default: string | null;
  /** A secret is never shown, and can be read from the file that `<NAME>_FILE` names. */
  secret?: true;
}

/** All settings, in the order of `.env.example`; `docs/configuration.md` explains them. */
export const SETTINGS = {
  HOST: { default: "127.0.0.1" },
  PORT: { default: "8080" },
  PUBLIC_URL: { default: null },
  TRUST_PROXY: { default: "false" },

  DATA_DIR: { default: "data" },
  DATABASE_URL: { default: null, secret: true },
  S3_BUCKET: { default: null },
  S3_REGION: { default: "us-east-1" },
  S3_ENDPOINT: { default: null },
  S3_PUBLIC_ENDPOINT: { default: null },
  S3_FORCE_PATH_STYLE: { default: "false" },
  S3_ACCESS_KEY_ID: { default: null, secret: true },
  S3_SECRET_ACCESS_KEY: { default: null, secret: true },
  S3_PREFIX: { default: null },

  ROLE: { default: "all" },
  DRAIN_SECONDS: { default: null },

  ENGINE: { default: "auto" },
  WHISPER_MODEL: { default: DEFAULT_MODEL_NAME },
  MODELS_DIR: { default: null },
  MODEL_DOWNLOAD: { default: "auto" },
  MODEL_HUB_URL: { default: "https://huggingface.co" },
  MODEL_HUB_TOKEN: { default: null, secret: true },
  ...ENGINE_SETTINGS,
  FFMPEG_PATH: { default: null },
  SPEECH_PROCESSES: { default: "1" },
  SPEECH_THREADS: { default: null },
  SPEECH_MEMORY_LIMIT_MB: { default: "1600" },
  WORKER_CONCURRENCY: { default: null },
  MAX_CONCURRENT_PER_ENVIRONMENT: { default: null },

  MAX_UPLOAD_BYTES: { default: "10737418240" },
  MAX_DURATION_SECONDS: { default: "43200" },
  UPLOAD_EXPIRY_HOURS: { default: "24" },
  UPLOAD_BUFFER_BYTES: { default: "16106127360" },
  RATE_LIMIT_PER_SECOND: { default: "10" },
  RATE_LIMIT_BURST: { default: "60" },

  WEBHOOK_ALLOW_HTTP: { default: "false" },
  WEBHOOK_ALLOW_NETWORKS: { default: null },

  AUDIT_LOG_DAYS: { default: "365" },

  LOG_LEVEL: { default: "info" },

  METRICS_TOKEN: { default: null, secret: true },
  OTEL_EXPORTER_OTLP_ENDPOINT: { default: null },
  OTEL_EXPORTER_OTLP_HEADERS: { default: null, secret: true },
  OTEL_SERVICE_NAME: { default: "subtext" },
  OTEL_TRACES_SAMPLER_ARG: { default: "1" },
} satisfies Record<string, SettingFacts>;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

export function isSecret(name: SettingName): boolean {
  return "secret" in SETTINGS[name];
}
