import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { WEBHOOK_TIMEOUT_SECONDS } from "@subtext/client/contract/webhook";
import type { Speech } from "@subtext/speech/child/supervise";
import type { ProgressTerminal } from "@subtext/speech/progress-bar";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import packageJson from "../package.json" with { type: "json" };
import { type Clock, systemClock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/database.ts";
import { migrate } from "./db/migrate.ts";
import { openDatabase } from "./db/open.ts";
import type { Schema } from "./db/schema.ts";
import { serviceSecret } from "./db/secrets.ts";
import { diagnose } from "./doctor.ts";
import { type FolderLock, lockFolder } from "./folder-lock.ts";
import { type ConnectionLimits, createApp } from "./http/app.ts";
import { registerDashboard } from "./http/dashboard.ts";
import { registerInternal } from "./http/internal/routes.ts";
import { registerFiles } from "./http/public/files.ts";
import { registerPublic } from "./http/public/routes.ts";
import { createUploadLocker } from "./http/public/upload-locker.ts";
import { RateLimiter } from "./http/rate-limit.ts";
import { matchInstallation } from "./installation.ts";
import type { Models } from "./models.ts";
import { type Operators, openOperators } from "./operators.ts";
import { indexTranscript } from "./pipeline/index-transcript.ts";
import { runTranscription } from "./pipeline/run.ts";
import { RunningAttempts } from "./pipeline/running-attempts.ts";
import { type Sweeper, startSweeping } from "./pipeline/sweep.ts";
import { wakeWaiting } from "./pipeline/wake-waiting.ts";
import { Queue } from "./queue.ts";
import { removeServiceFile, writeServiceFile } from "./service-file.ts";
import { describeEngines, openModels, openSpeech } from "./speech.ts";
import { openDiskStorage } from "./storage/disk.ts";
import { openDiskSources } from "./storage/disk-sources.ts";
import { openDiskUploadStore } from "./storage/upload-store.ts";
import { openSystem } from "./system.ts";
import { deliver } from "./webhooks/deliver.ts";
import { createEndpointPolicy, type EndpointPolicy, type ResolveHost } from "./webhooks/guard-url.ts";
import { createHostResolver } from "./webhooks/resolve-host.ts";

/** Where `npm run build -w @subtext/dashboard` puts it. */
const DASHBOARD_FOLDER = join(import.meta.dirname, "../../dashboard/dist");
const SWEEP_EVERY_MS = 5 * 60_000;
const DELIVERY_CONCURRENCY = 8;
/** Whoever writes to an upload makes an end well before, so that the next may. */
const UPLOAD_LOCK_TIMEOUT_MS = 10_000;
/** How long a stop waits for what is running; work that is not done by then comes back by its heartbeat. */
const STOP_WITHIN_MS = 20_000;
const CLOSE_CONNECTIONS_AFTER_MS = 3_000;

export interface Parts {
  config: Config;
  log: Logger;
  clock: Clock;
  database: Database<Schema>;
  queue: Queue;
  models: Models;
  speech: Speech;
  endpointPolicy: EndpointPolicy;
  operators: Operators;
  /** Opens the operator's API to the command line, in this process or, by `service.json`, in another. */
  commandLineToken: string;
  app: FastifyInstance;
}

export interface Service {
  readonly parts: Parts;
  /** Takes work and requests; until then the app answers to `inject` alone. */
  start(): Promise<void>;
  /** Takes nothing new, hands back or finishes what is running, closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  config: Config;
  log: Logger;
  /** Tests give a clock that they move. */
  clock?: Clock;
  resolve?: ResolveHost;
  /** Tests that wait for one of these make it short. */
  uploadLockTimeoutMs?: number;
  connectionLimits?: ConnectionLimits;
  /** Where the progress of a download may be drawn; left out, it is logged. */
  terminal?: ProgressTerminal | null;
  /** Told when the embedded database has crashed: nothing works from then on, and a restart recovers it. */
  onCrash?: (error: Error) => void;
}

/** Opens every part, in the order in which they need each other; nothing runs yet. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { config, log, onCrash } = options;
  const database = await openDatabase<Schema>({
    databaseUrl: config.databaseUrl,
    folder: join(config.dataFolder, "database"),
    log,
    ...(onCrash && { onCrash }),
  });
  let lock: FolderLock | undefined;
  try {
    // Uploads are written under locks of this process: two on one folder would write into each other's.
    lock = lockFolder(join(config.dataFolder, "service"));
    return await wire(database, lock, options);
  } catch (error) {
    lock?.release();
    await database.close();
    throw error;
  }
}

async function wire(
  database: Database<Schema>,
  lock: FolderLock,
  {
    config,
    log,
    clock = systemClock,
    resolve = createHostResolver(),
    uploadLockTimeoutMs = UPLOAD_LOCK_TIMEOUT_MS,
    connectionLimits,
    terminal = null,
  }: ServiceOptions,
): Promise<Service> {
  const db = database.kysely;
  await migrate(db);
  const queue = new Queue(database.boss, database.kind, log);
  await queue.start();

  const secret = await serviceSecret(db, "url_signing");
  const uploadsFolder = join(config.dataFolder, "uploads");
  const sources = await openDiskSources(uploadsFolder);
  const filesFolder = join(config.dataFolder, "files");
  await mkdir(filesFolder, { recursive: true, mode: 0o700 });
  await matchInstallation(db, config.dataFolder, [uploadsFolder, filesFolder]);
  const storage = await openDiskStorage({
    folder: filesFolder,
    baseUrl: config.publicUrl,
    secret,
  });
  const models = openModels({ config, log, clock, terminal });
  await models.look();
  const speech = openSpeech(config, models, log);
  const endpointPolicy = createEndpointPolicy({
    allowHttp: config.webhookAllowHttp,
    allowPrivateNetworks: config.webhookAllowNetworks,
  });

  const limiter = new RateLimiter(
    { perSecond: config.rateLimitPerSecond, burst: config.rateLimitBurst },
    clock,
  );
  const app = createApp({
    log,
    trustProxy: config.trustProxy,
    ...(connectionLimits && { limits: connectionLimits }),
    health: {
      async check() {
        await database.check();
        await storage.check();
      },
    },
  });
  const running = new RunningAttempts(db);
  const store = openDiskUploadStore({ folder: uploadsFolder, db, sources, expiryMs: config.uploadExpiryMs });
  const locker = createUploadLocker({ timeoutMs: uploadLockTimeoutMs });
  await registerPublic(app, {
    db,
    queue,
    clock,
    log,
    storage,
    sources,
    running,
    secret,
    limiter,
    store,
    locker,
    policy: endpointPolicy,
    maxUploadBytes: config.maxUploadBytes,
    publicUrl: config.publicUrl,
    version: packageJson.version,
  });
  registerFiles(app, { storage, secret, clock });
  const operators = openOperators({
    db,
    clock,
    log,
    secret: await serviceSecret(db, "session"),
    publicUrl: config.publicUrl,
  });
  const commandLineToken = randomBytes(32).toString("base64url");
  registerInternal(app, {
    locker,
    running,
    db,
    queue,
    clock,
    storage,
    operators,
    commandLineToken,
    sources,
    store,
    secret,
    maxUploadBytes: config.maxUploadBytes,
    publicUrl: config.publicUrl,
    policy: endpointPolicy,
    version: packageJson.version,
    system: openSystem({ db, config, models, clock, log, version: packageJson.version }),
    diagnose: () =>
      diagnose(config, {
        database: () => describeDatabase(database),
        storage: () => storage.check(),
        model: () => models.state(),
        engine: () => describeEngines(speech),
      }),
  });
  await registerDashboard(app, { folder: DASHBOARD_FOLDER });

  const shutdown = new AbortController();
  let sweeper: Sweeper | undefined;
  let stopped: Promise<void> | undefined;
  return {
    parts: {
      config,
      log,
      clock,
      database,
      queue,
      models,
      speech,
      endpointPolicy,
      operators,
      commandLineToken,
      app,
    },

    async start() {
      const pipeline = {
        db,
        queue,
        speech,
        sources,
        storage,
        clock,
        log,
        modelIsComing: () => models.isComing(),
        maxDurationSeconds: config.maxDurationSeconds,
      };
      const deliveries = {
        db,
        queue,
        storage,
        clock,
        log,
        resolve,
        policy: endpointPolicy,
        version: packageJson.version,
        timeoutMs: WEBHOOK_TIMEOUT_SECONDS * 1000,
      };
      await queue.work({
        transcribe: {
          concurrency: config.workerConcurrency,
          run: (job) => running.run(job, (its) => runTranscription(pipeline, its, shutdown.signal)),
        },
        deliver: {
          concurrency: DELIVERY_CONCURRENCY,
          run: (job) => deliver(deliveries, job, shutdown.signal),
        },
        index: {
          concurrency: 1,
          run: (job) => indexTranscript({ db, storage, clock, log }, job, shutdown.signal),
        },
      });
      sweeper = startSweeping(
        { db, queue, clock, sources, storage, log, uploadExpiryMs: config.uploadExpiryMs },
        SWEEP_EVERY_MS,
      );
      await app.listen({ host: config.host, port: config.port });
      await writeServiceFile(config.dataFolder, {
        url: localUrl(app.server.address() as AddressInfo),
        token: commandLineToken,
        pid: process.pid,
      });
      const wake = () =>
        wakeWaiting({ db, queue, log }).catch((error) =>
          log.error({ err: error }, "transcriptions that wait for the speech model could not be woken"),
        );
      models.onChange(wake);
      models.start();
      // It may have come while nobody was there to tell.
      if (models.installed() !== null) await wake();
    },

    stop() {
      stopped ??= stopInOrder();
      return stopped;
    },
  };

  async function stopInOrder(): Promise<void> {
    log.info("stopping");
    const steps: [string, () => unknown][] = [
      ["service file", () => removeServiceFile(config.dataFolder, commandLineToken)],
      ["queue paused", () => queue.pause()],
      ["work handed back", () => shutdown.abort(new Error("the service is stopping"))],
      ["connections", () => closeApp(app)],
      ["model", () => models.stop()],
      ["sweep", () => sweeper?.stop()],
      ["queue", () => queue.stop(STOP_WITHIN_MS)],
      ["speech", () => speech.close()],
      ["database", () => database.close()],
      ["lock", () => lock.release()],
    ];
    for (const [step, stop] of steps) {
      try {
        await stop();
      } catch (error) {
        // One part that can not be closed is no reason to leave the others open.
        log.error({ err: error, step }, "a part could not be stopped");
      }
    }
    log.info("stopped");
  }
}

async function closeApp(app: FastifyInstance): Promise<void> {
  // An upload may go on for hours; its client resumes it after the restart.
  const impatience = setTimeout(() => app.server.closeAllConnections(), CLOSE_CONNECTIONS_AFTER_MS);
  await app.close();
  clearTimeout(impatience);
}

/** @throws where the database does not answer */
export async function describeDatabase(database: Database<Schema>): Promise<string> {
  await database.check();
  return `${database.kind === "postgres" ? "PostgreSQL" : "embedded PostgreSQL"} ${database.version}`;
}

/** How this machine reaches what listens there. */
function localUrl({ address, family, port }: AddressInfo): string {
  if (address === "0.0.0.0") return `http://127.0.0.1:${port}`;
  if (address === "::") return `http://[::1]:${port}`;
  return family === "IPv6" ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}
