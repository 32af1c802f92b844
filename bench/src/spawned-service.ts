import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, createReadStream, openSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PERMISSIONS } from "@subtext/client/contract/permission";
import type { Transcription } from "@subtext/client/contract/transcription";
import type { EventType } from "@subtext/client/contract/webhook";
import { createApiKey } from "@subtext/server/api-keys/api-keys";
import { readConfig } from "@subtext/server/config/config";
import { createEnvironment } from "@subtext/server/environments/environments";
import { systemClock } from "@subtext/server/lib/clock";
import { openService, type Service } from "@subtext/server/main";
import { createLog } from "@subtext/server/telemetry/log";
import { createWebhookEndpoint } from "@subtext/server/webhooks/endpoints";
import * as tus from "tus-js-client";

const ROOT = resolve(import.meta.dirname, "../..");

export interface Tenant {
  environmentId: string;
  key: string;
  webhookSecret: string | null;
}

export interface SpawnOptions {
  preload?: string[];
  /** File for stdout and stderr. By default, stderr is inherited and stdout is discarded. */
  logFile?: string;
}

/** The service as a child process, which can be stopped and restarted with the same data folder. */
export class SpawnedService {
  readonly url: string;
  readonly dataFolder: string;
  readonly #env: Record<string, string>;
  readonly #options: SpawnOptions;
  #process: ChildProcess | undefined;

  constructor(
    dataFolder: string,
    port: number,
    settings: Record<string, string> = {},
    options: SpawnOptions = {},
  ) {
    this.dataFolder = dataFolder;
    this.#options = options;
    this.url = `http://127.0.0.1:${port}`;
    this.#env = {
      PORT: String(port),
      DATA_DIR: dataFolder,
      LOG_LEVEL: "warn",
      MODEL_DOWNLOAD: "off",
      WEBHOOK_ALLOW_HTTP: "true",
      WEBHOOK_ALLOW_NETWORKS: "127.0.0.1/32",
      RATE_LIMIT_PER_SECOND: "10000",
      RATE_LIMIT_BURST: "10000",
      ...settings,
    };
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Starts the process and waits until it is ready. */
  async start(): Promise<void> {
    const { preload = [], logFile } = this.#options;
    const log = logFile === undefined ? null : openSync(logFile, "a");
    const args = [
      ...preload.flatMap((module) => ["--import", module]),
      join(ROOT, "server/bin/subtext.js"),
      "serve",
    ];
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, ...this.#env },
      stdio: ["ignore", log ?? "ignore", log ?? "inherit"],
    });
    if (log !== null) closeSync(log);
    this.#process = child;
    while (child.exitCode === null && child.signalCode === null) {
      const ready = await fetch(`${this.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (ready) return;
      await sleep(100);
    }
    throw new Error(`the service did not start: exit code ${child.exitCode}, signal ${child.signalCode}`);
  }

  /** For messages: `exit code 1` or `SIGKILL`. */
  get exitDescription(): string {
    const { exitCode = null, signalCode = null } = this.#process ?? {};
    return signalCode ?? `exit code ${exitCode}`;
  }

  get isRunning(): boolean {
    return (
      this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
    );
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (!child || !this.isRunning) return;
    const ended = new Promise((resolveExit) => child.once("exit", resolveExit));
    child.kill(signal);
    await ended;
  }

  /**
   * Opens the service in this process and passes its parts to `fn`. With the embedded database, the child process must
   * not be running.
   */
  async withParts<T>(fn: (parts: Service["parts"]) => Promise<T>): Promise<T> {
    const config = readConfig(this.#env);
    const service = await openService({ config, log: createLog("warn") });
    try {
      return await fn(service.parts);
    } finally {
      await service.stop();
    }
  }

  /** @param eventTypes events that the webhook endpoint subscribes to; by default, completed transcriptions */
  async createTenant(webhookUrl: string | null, eventTypes?: EventType[]): Promise<Tenant> {
    return await this.withParts(async ({ database, endpointPolicy: policy }) => {
      const deps = { db: database.kysely, clock: systemClock, policy };
      const { id: environmentId } = await createEnvironment(deps, { name: "Bench", aiTranscription: true });
      const { key } = await createApiKey(deps, {
        environmentId,
        name: "bench",
        permissions: [...PERMISSIONS],
        expiresAt: null,
      });
      const endpoint =
        webhookUrl &&
        (await createWebhookEndpoint(deps, {
          environmentId,
          url: webhookUrl,
          ...(eventTypes && { eventTypes }),
        }));
      return { environmentId, key, webhookSecret: endpoint ? endpoint.secret : null };
    });
  }

  /** Uploads with tus-js-client, which resumes the upload after each restart of the service. */
  async upload({ key }: Tenant, path: string, metadata: Record<string, string> = {}): Promise<string> {
    const { size } = await stat(path);
    return await new Promise((resolveId, reject) => {
      const upload = new tus.Upload(createReadStream(path), {
        endpoint: `${this.url}/api/v1/uploads`,
        headers: { authorization: `Bearer ${key}` },
        uploadSize: size,
        chunkSize: 8 * 1024 ** 2,
        metadata,
        retryDelays: Array.from({ length: 600 }, () => 500),
        onError: reject,
        onSuccess: () => resolveId(upload.url?.split("/").at(-1) ?? ""),
      });
      upload.start();
    });
  }

  /** Returns null without a successful response. */
  async read({ key }: Tenant, videoId: string): Promise<Transcription | null> {
    const response = await fetch(`${this.url}/api/v1/videos/${videoId}/transcription`, {
      headers: { authorization: `Bearer ${key}` },
    }).catch(() => null);
    return response?.ok ? ((await response.json()) as Transcription) : null;
  }

  async untilEnded(tenant: Tenant, videoId: string, pollMs = 250): Promise<Transcription> {
    for (;;) {
      const seen = await this.read(tenant, videoId);
      if (seen && seen.status !== "PENDING" && seen.status !== "PROCESSING") return seen;
      await sleep(pollMs);
    }
  }
}
