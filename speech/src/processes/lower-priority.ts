import { readdirSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** Beside a busy process of usual priority it still gets a quarter of a core (`sched(7)`: 335 shares to 1024). */
const STEPS = 5;
const LOWEST = 19;

/**
 * Lets a process that has just been started, and whatever it starts, go after those that somebody waits for. Where the
 * system refuses, it stays as it is.
 */
export function lowerPriority(pid: number): void {
  attempt(() => {
    const priority = Math.min(LOWEST, getPriority(pid) + STEPS);
    setPriority(pid, priority);
    // On Linux each thread has a priority of its own, which it takes from the thread that starts it.
    for (const thread of readdirSync(`/proc/${pid}/task`))
      attempt(() => setPriority(Number(thread), priority));
  });
  // Linux may weigh sessions rather than processes, as Debian's does outside of containers, and a speech process is a
  // session of its own; its priority would count within that alone.
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(STEPS)));
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // Not Linux, no such grouping, not allowed, or it has ended.
  }
}
