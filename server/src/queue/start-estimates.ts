import { MIN_SLICE_SECONDS, UNITS_PER_SECOND } from "./fair-queueing.ts";

export interface QueueState {
  /** Number of transcriptions that can run at the same time. */
  slots: number;
  /** Maximum number of concurrent attempts of one environment; null for no limit. */
  cap: number | null;
  virtualTime: number;
  /** Fair-queueing state, keyed by environment. */
  environments: ReadonlyMap<string, { finishTag: number; weight: number }>;
  running: readonly { environmentId: string; remainingSeconds: number }[];
  /** In the order in which workers claim them. `tag` is the start tag. */
  waiting: readonly { environmentId: string; workSeconds: number; tag: number }[];
}

interface SimulatedJob {
  environmentId: string;
  remainingSeconds: number;
  tag: number;
  /** Index among the waiting jobs; null for a job that has started before. */
  index: number | null;
}

/** More than a thousand waiting jobs need, unless many of them are very long. */
const MAX_STEPS = 20_000;

/**
 * Simulates the fair queue to estimate when each waiting job starts. Long jobs yield after a slice of work, as in
 * `startSlice`.
 * @returns seconds from now, by index; null if the simulation did not get that far
 */
export function estimateStarts(queue: QueueState): (number | null)[] {
  const { cap } = queue;
  const starts: (number | null)[] = queue.waiting.map(() => null);
  const waiting: SimulatedJob[] = queue.waiting.map(({ environmentId, workSeconds, tag }, index) => ({
    environmentId,
    remainingSeconds: workSeconds,
    tag,
    index,
  }));
  const finishTags = new Map([...queue.environments].map(([id, { finishTag }]) => [id, finishTag]));
  let virtualTime = queue.virtualTime;
  let now = 0;
  let unstarted = waiting.length;
  const active: { job: SimulatedJob; until: number }[] = [];
  const run = (job: SimulatedJob) => {
    const seconds = Math.min(job.remainingSeconds, MIN_SLICE_SECONDS);
    job.remainingSeconds -= seconds;
    active.push({ job, until: now + seconds });
  };
  for (const job of queue.running) run({ ...job, tag: 0, index: null });
  const slots = Math.max(queue.slots, active.length);
  const isCapped = (environmentId: string) =>
    cap !== null && active.filter(({ job }) => job.environmentId === environmentId).length >= cap;

  for (let step = 0; unstarted > 0 && step < MAX_STEPS; step++) {
    const next =
      active.length < slots ? waiting.findIndex(({ environmentId }) => !isCapped(environmentId)) : -1;
    if (next >= 0) {
      const [job] = waiting.splice(next, 1);
      virtualTime = Math.max(virtualTime, job!.tag);
      if (job!.index !== null) {
        starts[job!.index] = now;
        unstarted -= 1;
      }
      run(job!);
      continue;
    }
    const first = active.reduce<(typeof active)[number] | null>(
      (soonest, each) => (soonest === null || each.until < soonest.until ? each : soonest),
      null,
    );
    if (first === null) break;
    active.splice(active.indexOf(first), 1);
    now = first.until;
    const { job } = first;
    if (job.remainingSeconds <= 0) continue;
    job.tag = Math.max(virtualTime, finishTags.get(job.environmentId) ?? 0);
    const { weight = 1 } = queue.environments.get(job.environmentId) ?? {};
    const charge = Math.min(job.remainingSeconds, MIN_SLICE_SECONDS) * UNITS_PER_SECOND;
    finishTags.set(job.environmentId, job.tag + charge / weight);
    const yields = waiting.some(
      ({ tag, environmentId, remainingSeconds }) =>
        tag < job.tag &&
        (environmentId !== job.environmentId || remainingSeconds < MIN_SLICE_SECONDS) &&
        !(environmentId !== job.environmentId && isCapped(environmentId)),
    );
    if (!yields) {
      virtualTime = Math.max(virtualTime, job.tag);
      run(job);
      continue;
    }
    const behind = waiting.findIndex(({ tag }) => tag > job.tag);
    waiting.splice(behind < 0 ? waiting.length : behind, 0, { ...job, index: null });
  }
  return starts;
}
