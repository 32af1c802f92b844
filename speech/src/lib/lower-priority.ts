import { readdirSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

const MAX_NICE = 19;

/**
 * Lowers the priority of a process that has just been started, if the system permits. Its child processes inherit it.
 * @param niceSteps how much to add to its nice value
 */
export function lowerPriority(pid: number, niceSteps: number): void {
  attempt(() => {
    const priority = Math.min(MAX_NICE, getPriority(pid) + niceSteps);
    setPriority(pid, priority);
    // On Linux, each thread has a separate priority, inherited from the thread that starts it.
    for (const thread of readdirSync(`/proc/${pid}/task`))
      attempt(() => setPriority(Number(thread), priority));
  });
  // With autogrouping, as on Debian, priorities only count within a session, and a detached process has its own.
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(niceSteps)));
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // The system is not Linux or has no autogroups, the change is not permitted, or the process has exited.
  }
}
