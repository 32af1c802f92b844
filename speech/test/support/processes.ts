import { readdirSync, readFileSync } from "node:fs";

/** Every process below one, as Linux tells it. */
export function descendants(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean);
    return children.map(Number).flatMap((child) => [child, ...existing(() => descendants(child), [])]);
  });
}

/** Below a process, those whose command line contains the text. */
export function descendantsRunning(pid: number, text: string): number[] {
  return descendants(pid).filter((child) => commandLine(child).includes(text));
}

/** Whether a process runs; one that is only waiting to be collected does not. */
export function runs(pid: number): boolean {
  const status = existing(() => readFileSync(`/proc/${pid}/status`, "utf8"), "");
  return status !== "" && !/^State:\s+Z/m.test(status);
}

/** Looks again until it is so; the test's own time limit ends it. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function commandLine(pid: number): string {
  return existing(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"), "");
}

/** A process may be gone between being listed and being looked at. */
function existing<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
