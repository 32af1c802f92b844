import { join } from "node:path";
import type { Locker } from "@tus/utils";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { findMediaOrigin, registerDashboard } from "./admin/dashboard-pages.ts";
import { type AdminDeps, registerAdmin } from "./admin/routes.ts";
import { registerFiles } from "./api/files.ts";
import { registerPublic } from "./api/routes.ts";
import { TokenLimits } from "./api-keys/token-limits.ts";
import type { Config } from "./config/config.ts";
import type { Database } from "./db/database.ts";
import type { Db, Schema } from "./db/schema.ts";
import { type ConnectionLimits, createApp } from "./http/app.ts";
import type { Clock } from "./lib/clock.ts";
import { programCommand } from "./lib/command-line.ts";
import type { Operators } from "./operators/operators.ts";
import type { Queue } from "./queue/queue.ts";
import { openPartBuffers, partSizeFor } from "./storage/object-upload.ts";
import type { Stores } from "./storage/stores.ts";
import type { RunningAttempts } from "./transcription/running-attempts.ts";
import type { AcceptedReport } from "./uploads/accepted-report.ts";
import { openDiskUploadStore } from "./uploads/disk-upload-store.ts";
import { openObjectUploadStore } from "./uploads/object-upload-store.ts";
import type { UploadStore } from "./uploads/upload-store.ts";
import type { EndpointPolicy } from "./webhooks/guard-url.ts";

const DASHBOARD_FOLDER = join(import.meta.dirname, "../../dashboard/dist");

export interface AppsOptions
  extends Pick<AdminDeps, "system" | "diagnose" | "checkFiles" | "backups" | "models"> {
  config: Config;
  log: Logger;
  clock: Clock;
  database: Database<Schema>;
  stores: Stores;
  /** Signs the URLs of files and uploads. */
  secret: Buffer;
  queue: Queue;
  running: RunningAttempts;
  locker: Locker;
  countWorkers: () => Promise<number>;
  onAccepted: (accepted: AcceptedReport) => void;
  onUploading: (environmentId: string) => void;
  operators: Operators;
  commandLineToken: string;
  policy: EndpointPolicy;
  version: string;
  connectionLimits: ConnectionLimits | undefined;
  /** Aborted shortly before the service stops. It still answers requests for a while. */
  draining: AbortSignal;
  /** The built dashboard. By default, the output folder of `npm run build -w @subtext/dashboard`. */
  dashboardFolder: string | undefined;
}

/**
 * Creates `app`, which has all routes, and `listening`, which serves requests from outside. In a worker, `listening`
 * has only the health checks.
 */
export async function openApps(
  options: AppsOptions,
): Promise<{ app: FastifyInstance; listening: FastifyInstance }> {
  const { config, log, clock, database, stores, secret, connectionLimits, draining } = options;
  const { dashboardFolder: folder = DASHBOARD_FOLDER } = options;
  const newApp = () =>
    createApp({
      log,
      trustProxy: config.trustProxy,
      publicUrl: config.publicUrl,
      draining,
      ...(connectionLimits && { limits: connectionLimits }),
      health: {
        async check() {
          await database.check();
          await stores.transcripts.check();
        },
      },
    });
  const app = newApp();
  const deps = {
    ...options,
    db: database.kysely,
    transcripts: stores.transcripts,
    recordings: stores.recordings,
    ownership: stores.ownership,
    store: openUploadStore(stores, database.kysely, config),
    limits: new TokenLimits({ perSecond: config.rateLimitPerSecond, burst: config.rateLimitBurst }, clock),
    maxUploadBytes: config.maxUploadBytes,
    publicUrl: config.publicUrl,
    settings: config.settings,
    capacity: {
      countSlots: async () => (await options.countWorkers()) * config.workerConcurrency,
      maxConcurrentPerEnvironment: config.maxConcurrentPerEnvironment,
    },
  };
  await registerPublic(app, deps);
  if (stores.files) registerFiles(app, { transcripts: stores.files, secret, clock });
  registerAdmin(app, deps);
  const mediaOrigin = await findMediaOrigin(stores.recordings, clock.now());
  await registerDashboard(app, { folder, mediaOrigin, command: programCommand() });
  // In a worker, only the command line uses `app`.
  return { app, listening: config.role === "worker" ? newApp() : app };
}

/** Opens the store of unfinished uploads, which is where recordings are stored. */
function openUploadStore(
  { uploadTarget: target, recordings }: Stores,
  db: Db,
  { uploadExpiryMs: expiryMs, maxUploadBytes, uploadBufferBytes: diskBytes }: Config,
): UploadStore {
  if (target.kind === "folder") {
    return openDiskUploadStore({ folder: target.folder, db, recordings, expiryMs, maxUploadBytes });
  }
  const { objects, scratchFolder: folder } = target;
  const buffers = openPartBuffers({ partBytes: partSizeFor(maxUploadBytes), folder, diskBytes });
  return openObjectUploadStore({ objects, db, recordings, expiryMs, maxUploadBytes, buffers });
}
