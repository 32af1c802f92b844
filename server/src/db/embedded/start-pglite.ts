import { PGlite } from "@electric-sql/pglite";
import { AppError } from "../../lib/errors.ts";
import { COLUMN_PARSERS } from "../column-types.ts";
import { DurableNodeFs } from "./durable-node-fs.ts";

/** The PostgreSQL that PGlite carries, as it stands in a folder's PG_VERSION. */
export const POSTGRES_MAJOR = "18";

/** 4 MB rather than 16: the smallest folder is smaller, and a new segment stops the process for less long. */
const WAL_SEGMENT_MEGABYTES = 4;

const SETTINGS: Readonly<Record<string, string>> = {
  // What a commit promises.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  wal_sync_method: "fsync",
  // One process for one small service.
  shared_buffers: "16MB",
  maintenance_work_mem: "16MB",
  min_wal_size: "16MB",
  max_wal_size: "32MB",
  // PostgreSQL would keep a thousand files open in a process that needs some for uploads and sockets.
  max_files_per_process: "200",
  // As PGlite starts it: there are no other processes to work in.
  exit_on_error: "false",
  search_path: "public",
  io_method: "sync",
  max_worker_processes: "0",
  max_parallel_workers: "0",
  max_parallel_workers_per_gather: "0",
  max_parallel_maintenance_workers: "0",
  timezone: "UTC",
  // Failed statements are the callers' to report, and statements hold what no log should.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
};

/** PGlite's own parameters less `-F`, which turns fsync off. */
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
  /** A line that PostgreSQL would write to its log; never a statement. */
  onLog(line: string): void;
  /** PostgreSQL stopped: every later query is refused with this error. */
  onCrash(error: AppError): void;
  fsync?: (fileDescriptor: number) => void;
}

/** Starts PostgreSQL over a folder; an empty one becomes a new database, not yet durable. */
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
  refuseAfterCrash(pglite, (error) => {
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
 * PostgreSQL ends its process when it can not go on safely, say when the log can not be written because the
 * disk is full. PGlite catches that, sends the dead server the next message and may loop for ever, or take a
 * commit that failed for one that worked. From the crash on, everything that PGlite calls throws instead.
 */
function refuseAfterCrash(pglite: PGlite, toCrash: (error: unknown) => AppError): void {
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
