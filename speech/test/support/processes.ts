import { readdirSync, readFileSync } from "node:fs";

/** All descendants of a process, from Linux' /proc. */
export function descendants(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean);
    return children.map(Number).flatMap((child) => [child, ...existing(() => descendants(child), [])]);
  });
}

/** Descendants whose command line contains the text. */
export function descendantsRunning(pid: number, text: string): number[] {
  return descendants(pid).filter((child) => commandLine(child).includes(text));
}

/** Whether a process runs; zombies do not count. */
export function runs(pid: number): boolean {
  const status = existing(() => readFileSync(`/proc/${pid}/status`, "utf8"), "");
  return status !== "" && !/^State:\s+Z/m.test(status);
}

/** Polls until the condition holds or the test times out. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
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
