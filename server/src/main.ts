import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProgressTerminal } from "@subtext/speech/cli/terminal";
import type { Speech } from "@subtext/speech/processes/process-pool";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import packageJson from "../package.json" with { type: "json" };
import { openBackups } from "./backup/backups.ts";
import { assertRestored } from "./backup/restore.ts";
import { readMissingFiles } from "./cleanup/missing-file-queries.ts";
import { startSweeping } from "./cleanup/sweep.ts";
import { checkAllFiles } from "./cleanup/sweep-missing-files.ts";
import { summarizeUnknownFiles } from "./cleanup/unknown-file-queries.ts";
import type { Config } from "./config/config.ts";
import type { Database } from "./db/database.ts";
import { type DatabaseClock, openDatabaseClock } from "./db/database-clock.ts";
import { requireEmbeddedDatabase } from "./db/embedded/data-folder.ts";
import { migrate, migrateExisting, requireTables } from "./db/migrate.ts";
import { openDatabase } from "./db/open.ts";
import type { Schema } from "./db/schema.ts";
import { serviceSecret } from "./db/secrets.ts";
import { countWorkers, type DatabaseSession, openSession } from "./db/session.ts";
import { diagnose } from "./health/doctor.ts";
import { countQueue, lacksTextIndex } from "./health/queries.ts";
import { openSystem } from "./health/system.ts";
import type { ConnectionLimits } from "./http/app.ts";
import { closeApp, localUrl } from "./http/listening.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import { makeFolder } from "./lib/files.ts";
import { logLevelOf } from "./lib/outages.ts";
import { removeServiceFile, writeServiceFile } from "./lib/service-file.ts";
import { assertNotMoved } from "./move/move-state.ts";
import { openApps } from "./open-apps.ts";
import { type Operators, openOperators } from "./operators/operators.ts";
import { type LeaderTask, runAsLeader } from "./queue/leader-election.ts";
import { Queue } from "./queue/queue.ts";
import { startQueueMaintenance } from "./queue/queue-maintenance.ts";
import type { Models } from "./speech/models.ts";
import {
  describeEngines,
  describeMemory,
  openModels,
  openPosterDecoder,
  openSpeech,
} from "./speech/speech.ts";
import { startWork } from "./start-work.ts";
import { openStores } from "./storage/open-stores.ts";
import { databaseHome } from "./storage/ownership/queries.ts";
import type { StoreOwnership } from "./storage/ownership/store-ownership.ts";
import type { RecordingStore } from "./storage/recording-store.ts";
import type { Stores } from "./storage/stores.ts";
import type { TranscriptStore } from "./storage/transcript-store.ts";
import { openTelemetry } from "./telemetry/telemetry.ts";
import { RunningAttempts } from "./transcription/running-attempts.ts";
import { startSpeechEarly } from "./transcription/start-speech-early.ts";
import { openUploadLocker } from "./uploads/open-upload-locker.ts";
import { createEndpointPolicy, type EndpointPolicy, type ResolveHost } from "./webhooks/guard-url.ts";
import { createHostResolver } from "./webhooks/resolve-host.ts";

const SWEEP_INTERVAL_MS = 5 * 60_000;
/** Maximum wait for running work at shutdown. Another worker retries unfinished work after its heartbeat timeout. */
const STOP_TIMEOUT_MS = 20_000;

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
  transcripts: TranscriptStore;
  recordings: RecordingStore;
  ownership: StoreOwnership;
  /** Authorizes the command line to call the admin API. A command in another process reads it from `service.json`. */
  commandLineToken: string;
  app: FastifyInstance;
}

export interface Service {
  readonly parts: Parts;
  /** Starts to run jobs and to listen for requests. Before that, only `app.inject` works. */
  start(): Promise<void>;
  /** Hands back running work and closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

/** `serve` creates missing folders and tables, `migrate` migrates existing tables, and `command` changes neither. */
export type Purpose = "serve" | "migrate" | "command";

export interface ServiceOptions {
  config: Config;
  log: Logger;
  purpose?: Purpose;
  clock?: Clock;
  resolve?: ResolveHost;
  /** Tests pass shorter timeouts. */
  uploadLockTimeoutMs?: number;
  connectionLimits?: ConnectionLimits;
  dashboardFolder?: string;
  /** Shows the progress of downloads. Without it, progress is logged. */
  terminal?: ProgressTerminal | null;
  /** Called when the embedded database has crashed. A restart of the service recovers it. */
  onCrash?: (error: Error) => void;
}

/** Opens every part in the order of dependencies. No work runs until `start` is called. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { config, log, onCrash, purpose = "serve" } = options;
  await assertNotMoved(config);
  assertRestored(config.dataFolder);
  if (purpose === "serve") await makeFolder(config.dataFolder);
  else if (config.databaseUrl === null) await requireEmbeddedDatabase(join(config.dataFolder, "database"));
  const closers: (() => unknown)[] = [];
  try {
    const database = await openDatabase<Schema>({
      databaseUrl: config.databaseUrl,
      folder: join(config.dataFolder, "database"),
      log,
      ...(onCrash && { onCrash }),
    });
    closers.push(() => database.close());
    const { kysely: db } = database;
    // The embedded database uses this machine's clock.
    const databaseClock = database.kind === "postgres" ? await openDatabaseClock({ db, log }) : null;
    closers.push(() => databaseClock?.stop());
    // Several processes can share a bucket, but not a data folder.
    const isShared = config.databaseUrl !== null && config.bucket !== null;
    const isWorker = purpose === "serve" && config.role !== "api";
    const session = isShared ? await openSession({ databaseUrl: config.databaseUrl!, log, isWorker }) : null;
    closers.push(() => session?.close());
    const prepareTables = { serve: migrate, migrate: migrateExisting, command: requireTables }[purpose];
    await oneAtATime(session, () => prepareTables(db));
    const secret = await serviceSecret(db, "url_signing");
    const home = await databaseHome(db, database.kind);
    const create = purpose === "serve";
    const stores = await oneAtATime(session, () => openStores({ config, db, home, secret, create, log }));
    closers.push(() => stores.close());
    return await wire({ database, databaseClock, session, stores, secret, closers }, options);
  } catch (error) {
    for (const close of closers.reverse()) {
      try {
        await close();
      } catch (failure) {
        log.error({ err: failure }, "could not clean up after a failed start");
      }
    }
    throw error;
  }
}

/** Runs a step while no other process runs such a step. */
async function oneAtATime<T>(session: DatabaseSession | null, step: () => Promise<T>): Promise<T> {
  return await (session ? session.withLock("tables", step) : step());
}

async function wire(
  {
    database,
    databaseClock,
    session,
    stores,
    secret,
    closers,
  }: {
    database: Database<Schema>;
    databaseClock: DatabaseClock | null;
    session: DatabaseSession | null;
    stores: Stores;
    secret: Buffer;
    /** Functions that close the parts that are already open if a later one fails to open. */
    closers: (() => unknown)[];
  },
  {
    config,
    log,
    purpose = "serve",
    clock = databaseClock ?? systemClock,
    resolve = createHostResolver(),
    uploadLockTimeoutMs,
    connectionLimits,
    dashboardFolder,
    terminal = null,
  }: ServiceOptions,
): Promise<Service> {
  const db = database.kysely;
  const { transcripts, recordings, ownership } = stores;
  const queue = new Queue(database.boss, database.kind, log, { create: purpose !== "command" });
  closers.push(() => queue.stop(STOP_TIMEOUT_MS));
  await oneAtATime(session, () => queue.start());
  // Without a session, this is the only process.
  const countRunning = session ? () => countWorkers(db) : async () => 1;
  const telemetry = await openTelemetry({
    config,
    database,
    countWorkers: countRunning,
    ownership,
    clock,
    log,
    version: packageJson.version,
  });
  closers.push(() => telemetry.close());
  const models = openModels({ config, db, log, clock, terminal });
  await models.refresh();
  const speech = openSpeech(config, models, log, telemetry.onSpeechProcess);
  closers.push(() => speech.close());
  const endpointPolicy = createEndpointPolicy({
    allowHttp: config.webhookAllowHttp,
    allowPrivateNetworks: config.webhookAllowNetworks,
  });

  const running = new RunningAttempts(db);
  const operators = openOperators({
    db,
    clock,
    log,
    secret: await serviceSecret(db, "session"),
    publicUrl: config.publicUrl,
  });
  const backups = await openBackups({
    database,
    dataFolder: config.dataFolder,
    hasBucket: config.bucket !== null,
    clock,
    log,
    version: packageJson.version,
  });
  const locker = openUploadLocker(session, uploadLockTimeoutMs);
  const commandLineToken = randomBytes(32).toString("base64url");
  const startSpeech = startSpeechEarly({ db, speech, log });
  let isWorking = false;
  const draining = new AbortController();
  const { app, listening } = await openApps({
    config,
    log,
    clock,
    database,
    stores,
    secret,
    queue,
    running,
    locker,
    countWorkers: countRunning,
    onAccepted: telemetry.onAccepted,
    onUploading: (environmentId) => {
      if (isWorking) startSpeech(environmentId);
    },
    operators,
    commandLineToken,
    backups,
    models,
    policy: endpointPolicy,
    version: packageJson.version,
    system: openSystem({ db, config, models, clock, log, version: packageJson.version }),
    diagnose: () =>
      diagnose(config, {
        database: () => describeDatabase(database),
        storage: () => transcripts.check(),
        model: () => models.state(),
        engine: () => describeEngines(speech),
        memory: () => describeMemory(config, models),
        workers: async () => ({
          running: session && (await countRunning()),
          waiting: (await countQueue(db)).pending,
        }),
        files: () => readMissingFiles(db),
        cleanup: async () => ({
          ownership: await ownership.state(),
          unknown: await summarizeUnknownFiles(db),
        }),
      }),
    checkFiles: (signal) => checkAllFiles({ db, queue, recordings, transcripts, clock, log }, signal),
    connectionLimits,
    draining: draining.signal,
    dashboardFolder,
  });
  telemetry.register(listening);

  const shutdown = new AbortController();
  let leader: LeaderTask | undefined;
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
      transcripts,
      recordings,
      ownership,
      commandLineToken,
      app,
    },

    async start() {
      if (config.role !== "api") {
        await startWork(
          {
            db,
            queue,
            speech,
            recordings,
            transcripts,
            clock,
            log,
            models,
            running,
            locker,
            posterDecoder: openPosterDecoder(config),
            resolve,
            policy: endpointPolicy,
            version: packageJson.version,
            maxDurationSeconds: config.maxDurationSeconds,
            concurrency: config.workerConcurrency,
            maxConcurrentPerEnvironment: config.maxConcurrentPerEnvironment,
            onAttempt: telemetry.onAttempt,
            onDelivery: telemetry.onDelivery,
            onItemFailed: telemetry.onItemFailed,
          },
          shutdown.signal,
        );
        isWorking = true;
      }
      const leadTasks = () => {
        const maintenance = startQueueMaintenance({ db, queue, log });
        const sweeper = startSweeping(
          {
            db,
            queue,
            clock,
            recordings,
            transcripts,
            ownership,
            log,
            uploadExpiryMs: config.uploadExpiryMs,
            auditLogDays: config.auditLogDays,
            onAccepted: telemetry.onAccepted,
            onItemFailed: telemetry.onItemFailed,
          },
          SWEEP_INTERVAL_MS,
        );
        return {
          async stop() {
            await maintenance.stop();
            await sweeper.stop();
          },
        };
      };
      leader = session ? runAsLeader({ session, log }, "sweep", leadTasks) : leadTasks();
      await listening.listen({ host: config.host, port: config.port });
      if (config.role === "worker") log.info({ port: config.port }, "serving the worker's health checks");
      else {
        await writeServiceFile(config.dataFolder, {
          url: localUrl(app),
          token: commandLineToken,
          pid: process.pid,
        });
      }
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
      ["drain requests", () => drain()],
      ["pause queue", () => queue.pause()],
      ["hand back work", () => shutdown.abort(new Error("the service is stopping"))],
      ["connections", () => closeApp(app)],
      ["health checks", () => (listening === app ? undefined : closeApp(listening))],
      ["model", () => models.stop()],
      ["backup", () => backups.stop()],
      ["sweep", () => leader?.stop()],
      ["queue", () => queue.stop(STOP_TIMEOUT_MS)],
      ["speech", () => speech.close()],
      ["telemetry", () => telemetry.close()],
      ["files", () => stores.close()],
      ["locks", () => session?.close()],
      ["clock", () => databaseClock?.stop()],
      ["database", () => database.close()],
    ];
    for (const [step, stop] of steps) {
      try {
        await stop();
      } catch (error) {
        // A failed step must not prevent the others.
        log[logLevelOf(error, "error")]({ err: error, step }, "a shutdown step failed");
      }
    }
    log.info("stopped");
  }

  async function drain(): Promise<void> {
    draining.abort();
    if (listening.server.listening) await sleep(config.drainMs);
  }
}

/** @throws if the database does not respond */
export async function describeDatabase(
  database: Database<Schema>,
): Promise<{ version: string; lacksTextIndex: boolean }> {
  await database.check();
  const kind = database.kind === "postgres" ? "PostgreSQL" : "embedded PostgreSQL";
  return { version: `${kind} ${database.version}`, lacksTextIndex: await lacksTextIndex(database.kysely) };
}
