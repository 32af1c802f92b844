import { runCommandLine } from "../../src/cli/program.ts";
import { bucketFor, postgresFor } from "./service.ts";

interface Outcome {
  exitCode: number;
  out: string;
  err: string;
}

/** Runs a command in this process, with the database and bucket that belong to the data folder. */
export async function runCommand(dataFolder: string, args: readonly string[]): Promise<Outcome> {
  const databaseUrl = await postgresFor(dataFolder);
  return await runCommandWith(args, {
    DATA_DIR: dataFolder,
    LOG_LEVEL: "silent",
    MODEL_DOWNLOAD: "off",
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    ...(await bucketFor(dataFolder)),
  });
}

/** Runs a command in this process, with only these environment variables. */
export async function runCommandWith(args: readonly string[], env: Record<string, string>): Promise<Outcome> {
  const printed = { out: "", err: "" };
  const exitCode = await runCommandLine(args, {
    env,
    out: (text) => {
      printed.out += text;
    },
    err: (text) => {
      printed.err += text;
    },
    errColumns: () => null,
  });
  return { exitCode, ...printed };
}
