import { ENGINE_CHOICES, ENGINE_SETTINGS } from "@subtext/speech/engines/registry";
import { DEFAULT_MODEL_NAME } from "@subtext/speech/models/catalog";
import { SPEECH_PRIORITIES } from "@subtext/speech/models/estimated-speed";
import { ENCODER_CHOICES } from "@subtext/speech/processes/encoder-choice";
import type { SettingFacts } from "../lib/setting.ts";
import { BACKEND_SETTINGS } from "../storage/backends.ts";

/** All settings, grouped by the headings of `docs/configuration.md`. */
export const SETTING_GROUPS = {
  Address: {
    HOST: {
      description:
        "The address to listen on. `127.0.0.1` is reachable only from this machine, `0.0.0.0` from every network.",
      value: "address",
      example: "0.0.0.0",
      default: "127.0.0.1",
    },
    PORT: {
      description: "The port to listen on.",
      range: [1, 65_535],
      example: "9000",
      default: "8080",
    },
    PUBLIC_URL: {
      description:
        "The URL at which clients reach the service, for example that of a reverse proxy. Upload URLs and, without a bucket, file URLs begin with it, and operators can sign in only at this URL.",
      value: "URL without a path",
      example: "https://captions.example.com",
      default: null,
      derivedDefault: "`http://` with `HOST` and `PORT`",
    },
    TRUST_PROXY: {
      description:
        "The number of proxies in front of the service, or their addresses. The client's address is then taken from `X-Forwarded-For`, which the outermost proxy must overwrite; see [behind a proxy](deploy.md#behind-a-proxy).",
      value: "`false`, 1 … 9, or addresses and CIDR blocks, separated by commas",
      example: "1",
      default: "false",
    },
  },

  Data: {
    DATA_DIR: {
      description:
        "The folder for recordings, transcripts and the embedded database. A relative path is resolved against the current directory.",
      value: "path",
      example: "/var/lib/subtext",
      default: "data",
    },
    DATABASE_URL: {
      description: "A PostgreSQL server instead of the embedded database.",
      value: "URL",
      example: "postgres://subtext:password@db:5432/subtext",
      default: null,
      secret: true,
    },
    ...BACKEND_SETTINGS,
  },

  "Several processes": {
    ROLE: {
      description:
        "The role of this process. `all`: everything. `api`: requests and uploads. `worker`: transcriptions and webhooks, with only `/healthz` and `/readyz` on its port. `api` and `worker` need `DATABASE_URL` and a bucket. Same as `subtext serve --role`.",
      choices: ["all", "api", "worker"],
      example: "worker",
      default: "all",
    },
    DRAIN_SECONDS: {
      description:
        "How long a process keeps serving requests after its shutdown begins. Meanwhile, `/healthz` and `/readyz` return 503, so that a load balancer stops sending it requests. Set this to longer than the load balancer takes to notice.",
      value: "seconds",
      range: [0, 300],
      example: "20",
      default: null,
      derivedDefault: "`5` if `ROLE` is `api`, else `0`",
    },
  },

  Transcription: {
    ENGINE: {
      description:
        "The speech engine; see [engines](engines.md). `auto`: the servers of `SPEECH_SERVERS` if any are set, otherwise the Whisper model, and until it is installed, the bundled engine, which supports English. `moonshine`, `whisper` and `openai` use only the bundled engine, the Whisper model or the servers, respectively.",
      choices: ENGINE_CHOICES,
      example: "whisper",
      default: "auto",
    },
    WHISPER_MODEL: {
      description:
        "The Whisper model, for about 99 languages; see [models](models.md). A name from `subtext models list`, or, on a machine without a network, the absolute path of a folder that was copied to it. A value other than the default, here or in `ENGINE`, overrides the engine chosen during setup.",
      value: "name or absolute path",
      example: "whisper-base",
      default: DEFAULT_MODEL_NAME,
    },
    SPEECH_PRIORITY: {
      description:
        "What recognizes clear English if `ENGINE=auto` selects an installed Whisper model; see [engines](engines.md#how-engines-are-chosen). `quality`: the model, if it is more accurate than the bundled engine. `speed`: the bundled engine. `auto`: the model if it reaches at least 4 × real time on this machine, otherwise the bundled engine.",
      choices: SPEECH_PRIORITIES,
      example: "speed",
      default: "auto",
    },
    WHISPER_ENCODER: {
      description:
        "Precision of the encoder that is downloaded with a model; see [models](models.md#precision-of-the-encoder). `auto` measures the machine before the download. An installed model keeps its encoder until `subtext models pull --encoder` replaces it.",
      choices: ENCODER_CHOICES,
      example: "fp32",
      default: "auto",
    },
    MODELS_DIR: {
      description: "The folder for models. Several services can share one.",
      value: "path",
      example: "/srv/models",
      default: null,
      derivedDefault: "`models` in `DATA_DIR`",
    },
    MODEL_DOWNLOAD: {
      description:
        "`auto` downloads a missing model in the background; with `off`, use `subtext models pull`.",
      choices: ["auto", "off"],
      example: "off",
      default: "auto",
    },
    MODEL_HUB_URL: {
      description:
        "Where models are downloaded from: the public hub, or a mirror that serves `<URL>/<owner>/<name>/resolve/…`. Behind a proxy, start Subtext with `NODE_USE_ENV_PROXY=1` and `HTTPS_PROXY` in its environment.",
      value: "URL",
      example: "https://mirror.example.com/hub",
      default: "https://huggingface.co",
    },
    MODEL_HUB_TOKEN: {
      description: "A token for a hub that requires one. It is sent only to `MODEL_HUB_URL`.",
      value: "text",
      example: "hf_EXAMPLE",
      default: null,
      secret: true,
    },
    ...ENGINE_SETTINGS,
    FFMPEG_PATH: {
      description:
        "The path of ffmpeg, 5.1 or newer. If ffmpeg is not installed, or with `none`, Subtext decodes with the npm package node-av.",
      value: "path, or `none`",
      example: "/usr/bin/ffmpeg",
      default: null,
      derivedDefault: "`ffmpeg` on the `PATH`",
    },
    SPEECH_PROCESSES: {
      description:
        "The number of speech processes. Each transcribes one recording at a time and loads its own copy of the model.",
      value: "processes",
      range: [1, 64],
      example: "2",
      default: "1",
    },
    SPEECH_THREADS: {
      description:
        "The number of threads in each speech process. The bundled engine gains nothing from more than 4; on a machine with more cores, raise `SPEECH_PROCESSES` as well.",
      value: "threads",
      range: [1, 64],
      example: "2",
      default: null,
      derivedDefault: "the number of cores, at most 4",
    },
    SPEECH_MEMORY_LIMIT_MB: {
      description:
        "The memory limit of each speech process with one or two threads and the bundled engine. A process that exceeds it is stopped, and its recording is retried. The limit grows automatically: with more than two threads and with a Whisper model; see [memory](engines.md#memory). Raise it if recordings still fail with `engine_out_of_memory`.",
      value: "MiB",
      range: [256, 1_000_000],
      example: "4000",
      default: "1600",
    },
    WORKER_CONCURRENCY: {
      description: "The maximum number of recordings that a process transcribes concurrently.",
      value: "recordings",
      range: [1, 64],
      example: "4",
      default: null,
      derivedDefault: "the value of `SPEECH_PROCESSES`",
    },
    MAX_CONCURRENT_PER_ENVIRONMENT: {
      description:
        "The maximum number of recordings of one environment that are transcribed concurrently, across all processes. Without a limit, environments take turns.",
      value: "recordings",
      range: [1, 10_000],
      example: "8",
      default: null,
      derivedDefault: "no limit",
    },
  },

  Limits: {
    MAX_UPLOAD_BYTES: {
      description: "The largest upload; 10 GiB by default.",
      value: "bytes",
      range: [1, Number.MAX_SAFE_INTEGER],
      example: "1073741824",
      default: "10737418240",
    },
    MAX_DURATION_SECONDS: {
      description: "The longest recording; 12 hours by default. A longer one fails with `media_too_long`.",
      value: "seconds",
      range: [1, 360_000],
      example: "7200",
      default: "43200",
    },
    UPLOAD_EXPIRY_HOURS: {
      description:
        "How long an unfinished upload is kept after its last bytes arrived, by the database's clock.",
      value: "hours",
      range: [1, 10_000],
      example: "48",
      default: "24",
    },
    UPLOAD_BUFFER_BYTES: {
      description:
        "With a bucket: the disk space that each process may use to buffer uploads; 15 GiB by default. Uploads that need more wait.",
      value: "bytes",
      range: [1, Number.MAX_SAFE_INTEGER],
      example: "4294967296",
      default: "16106127360",
    },
    RATE_LIMIT_PER_SECOND: {
      description:
        "The sustained request rate of each API key, counted by each process. Uploads do not count.",
      value: "requests per second",
      range: [1, 1_000_000],
      example: "50",
      default: "10",
    },
    RATE_LIMIT_BURST: {
      description: "The number of requests that each API key may send in a burst, counted by each process.",
      value: "requests",
      range: [1, 1_000_000],
      example: "200",
      default: "60",
    },
  },

  Webhooks: {
    WEBHOOK_ALLOW_HTTP: {
      description: "`true` allows webhook endpoints with `http://` as well as `https://`.",
      choices: ["true", "false"],
      example: "true",
      default: "false",
    },
    WEBHOOK_ALLOW_NETWORKS: {
      description: "Private networks to which webhooks may be sent.",
      value: "CIDR blocks, separated by commas",
      example: "10.1.0.0/16,127.0.0.1/32",
      default: null,
    },
  },

  "Audit log": {
    AUDIT_LOG_DAYS: {
      description: "How long audit events are kept; see [the audit log](audit.md).",
      value: "days",
      range: [1, 36_500],
      example: "90",
      default: "365",
    },
  },

  Logs: {
    LOG_LEVEL: {
      description:
        "The minimum level of log lines. Logs are written to standard output as one JSON object per line.",
      choices: ["silent", "fatal", "error", "warn", "info", "debug", "trace"],
      example: "warn",
      default: "info",
    },
  },

  "Metrics and traces": {
    METRICS_TOKEN: {
      description:
        "The bearer token that Prometheus must send to read `/metrics`. `openssl rand -hex 24` generates one. If unset, metrics are off; see [metrics](metrics.md).",
      value: "16 characters or more",
      example: "0f1e2d3c4b5a69788796a5b4",
      default: null,
      secret: true,
    },
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      description: "The OpenTelemetry collector that receives traces (OTLP over HTTP, in JSON).",
      value: "URL",
      example: "http://collector:4318",
      default: null,
    },
    OTEL_EXPORTER_OTLP_HEADERS: {
      description: "Headers of requests to the collector.",
      value: "`name=value`, separated by commas",
      example: "authorization=Bearer%20EXAMPLE",
      default: null,
      secret: true,
    },
    OTEL_SERVICE_NAME: {
      description: "The name of the service in traces.",
      value: "name",
      example: "captions",
      default: "subtext",
    },
    OTEL_TRACES_SAMPLER_ARG: {
      description: "The fraction of traces to send. All processes sample the same traces.",
      value: "0 … 1",
      example: "0.1",
      default: "1",
    },
  },
} as const satisfies Record<string, Record<string, SettingFacts>>;

export const SETTINGS = {
  ...SETTING_GROUPS.Address,
  ...SETTING_GROUPS.Data,
  ...SETTING_GROUPS["Several processes"],
  ...SETTING_GROUPS.Transcription,
  ...SETTING_GROUPS.Limits,
  ...SETTING_GROUPS.Webhooks,
  ...SETTING_GROUPS["Audit log"],
  ...SETTING_GROUPS.Logs,
  ...SETTING_GROUPS["Metrics and traces"],
};

export type SettingName = keyof typeof SETTINGS;

type SettingWith<Fact extends keyof SettingFacts> = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends Record<Fact, unknown> ? Name : never;
}[SettingName];
export type IntegerSetting = SettingWith<"range">;
export type ChoiceSetting = SettingWith<"choices">;
export type ChoiceOf<Name extends ChoiceSetting> = (typeof SETTINGS)[Name]["choices"][number];

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}

export function isSecret(name: SettingName): boolean {
  return "secret" in SETTINGS[name];
}
