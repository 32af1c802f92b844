import { PGlite } from "@electric-sql/pglite";
import { AppError } from "../../lib/errors.ts";
import { COLUMN_PARSERS } from "../column-types.ts";
import { DurableNodeFs } from "./durable-node-fs.ts";

/** The major version of PGlite's PostgreSQL, as written in a folder's PG_VERSION. */
export const POSTGRES_MAJOR = "18";

/** 4 MB instead of 16 MB: the folder starts smaller, and a new segment blocks the process for less time. */
const WAL_SEGMENT_MEGABYTES = 4;

const SETTINGS: Readonly<Record<string, string>> = {
  // Required for durable commits.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  wal_sync_method: "fsync",
  // One process for one small service.
  shared_buffers: "16MB",
  maintenance_work_mem: "16MB",
  min_wal_size: "16MB",
  max_wal_size: "32MB",
  // PostgreSQL would keep a thousand files open, but this process also needs some for uploads and sockets.
  max_files_per_process: "200",
  // As PGlite starts it: there are no background processes.
  exit_on_error: "false",
  search_path: "public",
  io_method: "sync",
  max_worker_processes: "0",
  max_parallel_workers: "0",
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0",
  timezone: "UTC",
  // Callers report failed statements; their text may contain personal data that must not be logged.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
};

/** PGlite's own parameters without `-F`, which turns fsync off. */
const START_PARAMETERS = [
  "--single",
  "-O",
  "-j",
  ...Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
];

/** What PostgreSQL throws through its main loop to report an ordinary error; anything else is a crash. */
const ERROR_JUMP_STATUS = 100;

interface PgliteModule {
  _PostgresMainLoopOnce(): void;
  _PostgresSendReadyForQueryIfNecessary(): void;
  stackSave(): number;
  stackRestore(stackPointer: number): void;
}

export interface PgliteHooks {
  /** Receives the lines that PostgreSQL would write to its log; never a statement. */
  onLog(line: string): void;
  /** PostgreSQL crashed: every later query is refused with this error. */
  onCrash(error: AppError): void;
  fsync?: (fileDescriptor: number) => void;
}

/** Starts PostgreSQL on a folder. An empty folder becomes a new database that is not yet durable. */
export async function startPglite(folder: string, hooks: PgliteHooks): Promise<PGlite> {
  let fatal = "";
  let pglite: PGlite;
  try {
    pglite = await PGlite.create({
      fs: new DurableNodeFs(folder, hooks.fsync),
      startParams: START_PARAMETERS,
      initDbStartParams: [`--wal-segsize=${WAL_SEGMENT_MEGABYTES}`],
      parsers: COLUMN_PARSERS,
      onStderr(line) {
        if (!line.includes("STATEMENT:")) {
          fatal = /(?:FATAL|PANIC):\s+(.*)/.exec(line)?.[1] ?? fatal;
          hooks.onLog(line);
        }
        return false;
      },
    });
  } catch (error) {
    throw new AppError("service_unavailable", `the database in ${folder} does not start: ${fatal}`, {
      cause: error,
    });
  }
  failAfterCrash(pglite, (error) => {
    const reason = fatal || (error instanceof Error ? error.message : String(error));
    const crash = new AppError("service_unavailable", `the database has stopped: ${reason}`, {
      cause: error,
    });
    hooks.onCrash(crash);
    return crash;
  });
  return pglite;
}

/**
 * PostgreSQL ends its process if it cannot continue safely, for example because the disk is full and the log cannot be
 * written. PGlite catches that, sends the next message to the dead server, and may loop forever or report a failed
 * commit as successful. After the crash, everything that PGlite calls therefore throws.
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
        const refuse = (): never => {
          throw crash;
        };
        module.stackSave = refuse;
        module.stackRestore = refuse;
        module._PostgresSendReadyForQueryIfNecessary = refuse;
      }
      throw error;
    }
  };
}
