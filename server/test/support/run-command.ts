import { runCommandLine } from "../../src/cli/program.ts";
import { bucketFor, postgresFor } from "./service.ts";

/** Runs a command in this process, with the database and bucket that belong to the data folder. */
export async function runCommand(
  dataFolder: string,
  args: readonly string[],
): Promise<{ exitCode: number; out: string; err: string }> {
  const printed = { out: "", err: "" };
  const databaseUrl = await postgresFor(dataFolder);
  const exitCode = await runCommandLine(args, {
    env: {
      DATA_DIR: dataFolder,
      LOG_LEVEL: "silent",
      MODEL_DOWNLOAD: "off",
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
      ...(await bucketFor(dataFolder)),
    },
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
