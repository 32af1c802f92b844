import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** How the command line on this machine reaches the service that runs on a data folder. */
export interface RunningService {
  /** Where it listens, as this machine reaches it: `http://127.0.0.1:8080`. */
  url: string;
  /** Whoever can read the file may do all that an operator may. */
  token: string;
  pid: number;
}

/** Lasts while the service listens; one that is older was left by a process that died. */
export async function writeServiceFile(dataFolder: string, service: RunningService): Promise<void> {
  const unfinished = join(dataFolder, `service.${service.pid}.unfinished`);
  // A file that is there keeps its mode, so one that somebody else made is not written into.
  await rm(unfinished, { force: true });
  await writeFile(unfinished, `${JSON.stringify(service)}\n`, { mode: 0o600, flag: "wx" });
  await rename(unfinished, pathOf(dataFolder));
}

/** Removes the file where it is still the one of that process. */
export async function removeServiceFile(dataFolder: string, token: string): Promise<void> {
  const running = await readServiceFile(dataFolder);
  if (running?.token === token) await rm(pathOf(dataFolder), { force: true });
}

/** Null where there is none, or none that can be read to its end. */
export async function readServiceFile(dataFolder: string): Promise<RunningService | null> {
  const text = await readFile(pathOf(dataFolder), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  return text === null ? null : parse(text);
}

function parse(text: string): RunningService | null {
  try {
    const { url, token, pid } = JSON.parse(text) as Partial<RunningService>;
    if (typeof url !== "string" || typeof token !== "string" || typeof pid !== "number") return null;
    return { url, token, pid };
  } catch {
    return null;
  }
}

function pathOf(dataFolder: string): string {
  return join(dataFolder, "service.json");
}
