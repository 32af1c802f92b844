import { readdirSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/**
 * Next to a busy process of normal priority, the process still gets a quarter of a core (`sched(7)`: 335 shares to
 * 1024).
 */
const STEPS = 5;
const LOWEST = 19;

/**
 * Lowers the priority of a process that has just been started, and of everything it starts. Has no effect if
 * the system refuses.
 */
export function lowerPriority(pid: number): void {
  attempt(() => {
    const priority = Math.min(LOWEST, getPriority(pid) + STEPS);
    setPriority(pid, priority);
    // On Linux each thread has a priority of its own, inherited from the thread that starts it.
    for (const thread of readdirSync(`/proc/${pid}/task`))
      attempt(() => setPriority(Number(thread), priority));
  });
  // Linux may schedule sessions instead of processes, as Debian does outside containers, and a speech process
  // is a session of its own; its priority would only count within that.
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(STEPS)));
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // Not Linux, no autogroups, not permitted, or the process has exited.
  }
}
