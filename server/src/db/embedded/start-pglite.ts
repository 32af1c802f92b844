import { PGlite } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { AppError } from "../../lib/errors.ts";
import { COLUMN_PARSERS } from "../column-types.ts";
import { DurableNodeFs } from "./durable-node-fs.ts";

/** PostgreSQL's major version, as in a data folder's file `PG_VERSION`. */
export const POSTGRES_MAJOR = "18";

/** PostgreSQL's default of 16 MB makes a new folder larger, and creating a segment blocks the process longer. */
const WAL_SEGMENT_MEGABYTES = 4;

const SETTINGS: Readonly<Record<string, string>> = {
  // Required for durable commits.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  wal_sync_method: "fsync",
  shared_buffers: "16MB",
  maintenance_work_mem: "16MB",
  min_wal_size: "16MB",
  max_wal_size: "32MB",
  // By default, PostgreSQL keeps 1,000 files open. Uploads and sockets need file descriptors too.
  max_files_per_process: "200",
  // PGlite's defaults, because it has no background processes.
  exit_on_error: "false",
  search_path: "public",
  io_method: "sync",
  max_worker_processes: "0",
  max_parallel_workers: "0",
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0",
  timezone: "UTC",
  // Statements may contain personal data, which must not be logged. Callers report failed statements.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
};

/** PGlite's default parameters without `-F`, which turns off fsync. */
const START_PARAMETERS = [
  "--single",
  "-O",
  "-j",
  ...Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
];

/** The exit status with which PostgreSQL's main loop reports an ordinary error. Any other exception is a crash. */
const ERROR_JUMP_STATUS = 100;

interface PgliteModule {
  _PostgresMainLoopOnce(): void;
  _PostgresSendReadyForQueryIfNecessary(): void;
  stackSave(): number;
  stackRestore(stackPointer: number): void;
}

export interface PgliteHooks {
  /** Receives PostgreSQL's log lines, without statements. */
  onLog(line: string): void;
  /** Called when PostgreSQL has crashed. Every later query fails with this error. */
  onCrash(error: AppError): void;
  fsync?: (fileDescriptor: number) => void;
}

/** Starts PostgreSQL on a folder. An empty folder becomes a new database, which the caller must sync. */
export async function startPglite(folder: string, hooks: PgliteHooks): Promise<PGlite> {
  let fatal = "";
  let pglite: PGlite;
  try {
    pglite = await PGlite.create({
      fs: new DurableNodeFs(folder, hooks.fsync),
      startParams: START_PARAMETERS,
      initDbStartParams: [`--wal-segsize=${WAL_SEGMENT_MEGABYTES}`],
      parsers: COLUMN_PARSERS,
      // The search of the video list uses it.
      extensions: { pg_trgm },
      onStderr(line) {
        if (!line.includes("STATEMENT:")) {
          fatal = /(?:FATAL|PANIC):\s+(.*)/.exec(line)?.[1] ?? fatal;
          hooks.onLog(line);
        }
        return false;
      },
    });
  } catch (error) {
    const message = `The database in ${folder} could not be started: ${fatal || describe(error)}.`;
    throw new AppError("service_unavailable", message, { cause: error });
  }
  failAfterCrash(pglite, (error) => {
    const reason = fatal || describe(error);
    const crash = new AppError("service_unavailable", `The database has stopped: ${reason}`, {
      cause: error,
    });
    hooks.onCrash(crash);
    return crash;
  });
  return pglite;
}

/** WASI's number for ENOSPC. Emscripten's errors have a number and no message. */
const NO_SPACE = 51;

function describe(error: unknown): string {
  const { message, errno } = error as { message?: string; errno?: number };
  if (errno === NO_SPACE) return "no space is left on the disk";
  return message || (errno === undefined ? String(error) : `error ${errno}`);
}

/**
 * Makes every call into PGlite throw after a crash. PostgreSQL exits if it cannot continue safely, for example because
 * the disk is full. PGlite ignores the exit: a later query may loop forever, or a failed commit may be reported as
 * successful.
 */
function failAfterCrash(pglite: PGlite, toCrash: (error: unknown) => AppError): void {
  const module = pglite.Module as unknown as PgliteModule;
  const runOnce = module._PostgresMainLoopOnce;
  module._PostgresMainLoopOnce = () => {
    try {
      runOnce();
    } catch (error) {
      if ((error as { status?: unknown }).status !== ERROR_JUMP_STATUS) {
        const crash = toCrash(error);
        const fail = (): never => {
          throw crash;
        };
        module.stackSave = fail;
        module.stackRestore = fail;
        module._PostgresSendReadyForQueryIfNecessary = fail;
      }
      throw error;
    }
  };
}
