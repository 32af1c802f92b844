import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nullIfAbsent } from "./files.ts";

/** How commands on this machine reach the running service. */
export interface RunningService {
  /** For example `http://127.0.0.1:8080`. */
  url: string;
  /** Grants all permissions to anyone who can read the file. */
  token: string;
  pid: number;
}

/** The file exists while the service listens. A crashed process leaves it behind. */
export async function writeServiceFile(dataFolder: string, service: RunningService): Promise<void> {
  const temporary = join(dataFolder, `service.${service.pid}.unfinished`);
  // Writing to an existing file would keep its mode, which may allow other users to read it.
  await rm(temporary, { force: true });
  await writeFile(temporary, `${JSON.stringify(service)}\n`, { mode: 0o600, flag: "wx" });
  await rename(temporary, pathOf(dataFolder));
}

/** Removes the file unless another process has replaced it. */
export async function removeServiceFile(dataFolder: string, token: string): Promise<void> {
  const running = await readServiceFile(dataFolder);
  if (running?.token === token) await rm(pathOf(dataFolder), { force: true });
}

/** Returns null if the file is missing or incomplete. */
export async function readServiceFile(dataFolder: string): Promise<RunningService | null> {
  const text = await readFile(pathOf(dataFolder), "utf8").catch(nullIfAbsent);
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
