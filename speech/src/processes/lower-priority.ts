import { readdirSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** Competing with a busy process of normal priority for one core, the process gets a quarter of it (`sched(7)`). */
const NICE_STEPS = 5;
const MAX_NICE = 19;

/** Lowers the priority of a process that has just been started, if the system permits. Its child processes inherit it. */
export function lowerPriority(pid: number): void {
  attempt(() => {
    const priority = Math.min(MAX_NICE, getPriority(pid) + NICE_STEPS);
    setPriority(pid, priority);
    // On Linux, each thread has a separate priority, inherited from the thread that starts it.
    for (const thread of readdirSync(`/proc/${pid}/task`))
      attempt(() => setPriority(Number(thread), priority));
  });
  // With autogrouping, as on Debian, priorities only count within a session, and a speech process is a separate session.
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(NICE_STEPS)));
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // The system is not Linux or has no autogroups, the change is not permitted, or the process has exited.
  }
}
