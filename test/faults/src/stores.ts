import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { bucketEnv, makeTestBucket } from "../../../server/test/support/test-bucket.ts";
import { makeTestDatabase } from "../../../server/test/support/test-database.ts";

const SCRIPTS = resolve(import.meta.dirname, "../../../scripts");
const DATABASE = "subtext_chaos";
const BUCKET = "subtext-chaos";

/** PostgreSQL and an S3 server that all processes of a fleet share. */
export interface SharedStores {
  databasePort: number;
  bucketPort: number;
  /** Returns the settings of a process that connects through these ports. */
  settings(ports: { databasePort: number; bucketPort: number }): Record<string, string>;
  /** `fast` terminates the sessions; `immediate` simulates a crash. */
  restartDatabase(mode: "fast" | "immediate"): Promise<void>;
}

/**
 * Starts the servers and adds their shutdown to `started`. Prints a message and returns null if a server is not
 * installed.
 */
export async function startSharedStores(
  folder: string,
  started: AsyncDisposableStack,
): Promise<SharedStores | null> {
  const postgresFolder = join(folder, "postgres");
  const s3Folder = join(folder, "s3");
  const server = startOrNull("start-postgres", postgresFolder);
  if (server === null) return null;
  started.defer(() => void run("stop-postgres", postgresFolder));
  const s3Text = startOrNull("start-s3", s3Folder);
  if (s3Text === null) return null;
  started.defer(() => void run("stop-s3", s3Folder));
  const s3 = JSON.parse(s3Text) as Parameters<typeof bucketEnv>[0];
  await makeTestBucket(s3, BUCKET);
  const database = new URL(await makeTestDatabase(server, DATABASE));
  return {
    databasePort: Number(database.port),
    bucketPort: Number(new URL(s3.endpoint).port),
    settings({ databasePort, bucketPort }) {
      const url = new URL(database);
      url.port = String(databasePort);
      return {
        DATABASE_URL: url.href,
        ...bucketEnv({ ...s3, endpoint: `http://127.0.0.1:${bucketPort}` }, BUCKET),
      };
    },
    async restartDatabase(mode) {
      const pgCtl = execFileSync(
        "bash",
        ["-c", "find /usr/lib/postgresql -maxdepth 3 -name pg_ctl | sort -V | tail -n 1"],
        { encoding: "utf8" },
      ).trim();
      const restart = [pgCtl, "--pgdata", join(postgresFolder, "data"), "--mode", mode, "--wait"];
      const log = ["--log", join(postgresFolder, "log"), "restart"];
      const command = process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--"] : [];
      const [program, ...args] = [...command, ...restart, ...log];
      // Asynchronous, because this process relays the connections of the database's clients.
      const restarting = spawn(program!, args, { stdio: "ignore" });
      const [code] = (await once(restarting, "exit")) as [number | null];
      if (code !== 0) throw new Error(`the database was not restarted (${code})`);
    },
  };
}

function startOrNull(script: string, folder: string): string | null {
  mkdirSync(folder, { recursive: true });
  try {
    return run(script, folder).trim();
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    console.log(`${script}: ${stderr?.trim().split("\n").at(-1) ?? error}`);
    return null;
  }
}

function run(script: string, folder: string): string {
  return execFileSync(join(SCRIPTS, script), [folder], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}
