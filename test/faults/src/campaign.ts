import { setTimeout as sleep } from "node:timers/promises";
import { type Random, seeded } from "@subtext/bench/seeded";
import { faultsFor } from "./faults/all-faults.ts";
import type { Fault, World } from "./faults/fault.ts";
import { between, pickByShare } from "./random.ts";

const CONCURRENT_FAULTS = 4;
const CONCURRENT_UPLOADS = 3;
const MAX_PAUSE_MS = 600;

export interface CampaignOptions {
  faults: number;
  videos: number;
  seed: number;
  /** Name prefixes of the faults to run; empty for all. */
  only: string[];
  /** No fault starts after this duration. */
  withinMs: number;
}

export interface Tally {
  /** How often each fault happened, keyed by name. */
  times: Map<string, number>;
  /** How often each fault was drawn but had no target or failed to be applied, keyed by name. */
  missed: Map<string, number>;
  total: number;
}

/**
 * Injects faults while videos are uploaded. The same seed draws the same faults, but when they hit depends on the
 * machine's speed. Resolves when all faults and uploads have ended.
 */
export async function runCampaign(world: World, options: CampaignOptions): Promise<Tally> {
  const faults = faultsFor(world.fleet).filter(
    ({ name }) => options.only.length === 0 || options.only.some((start) => name.startsWith(start)),
  );
  if (faults.length === 0) throw new Error(`no fault is named ${options.only.join(" or ")}`);
  const tally: Tally = { times: new Map(), missed: new Map(), total: 0 };
  const endsAt = performance.now() + options.withinMs;
  const progress = () => tally.total / options.faults;
  const isOver = () => progress() >= 1 || performance.now() > endsAt;
  const plan = seeded(options.seed);
  const inUse = new Set<string>();
  let drawn = 0;
  let running = 0;

  const runner = async () => {
    while (!isOver() && tally.total + running < options.faults) {
      const fault = pickByShare(faults, plan);
      const { exclusive, member } = fault.draw(world.fleet, plan);
      drawn += 1;
      const random = seeded(options.seed * 100_003 + drawn);
      running += 1;
      try {
        while (exclusive !== "" && inUse.has(exclusive)) await sleep(50);
        inUse.add(exclusive);
        const happened = await fault.apply(world, member, random);
        count(happened ? tally.times : tally.missed, fault);
        if (happened) {
          tally.total += 1;
          if (tally.total % 20 === 0) console.log(`${tally.total} faults, ${world.uploads.length} videos`);
        }
      } catch (error) {
        world.customer.problems.push(`while "${fault.name}" (${member.name}): ${describe(error)}`);
        count(tally.missed, fault);
      } finally {
        inUse.delete(exclusive);
        running -= 1;
      }
      await sleep(between(0, MAX_PAUSE_MS, random));
    }
  };

  const upcoming = uploadPlan(options);
  const uploader = async () => {
    for (;;) {
      const next = upcoming.next();
      if (next.done) return;
      // Spread the uploads so that the queue has work until the last fault.
      while (!isOver() && progress() < next.value.from) await sleep(100);
      const recording = pickByShare(world.recordings, next.value.random);
      try {
        world.uploads.push(await world.customer.upload(recording));
      } catch (error) {
        world.customer.problems.push(`an upload of "${recording.name}" failed: ${describe(error)}`);
      }
    }
  };
  await Promise.all([
    ...Array.from({ length: CONCURRENT_FAULTS }, runner),
    ...Array.from({ length: CONCURRENT_UPLOADS }, uploader),
  ]);
  console.log(`${tally.total} faults and ${world.uploads.length} videos`);
  return tally;
}

/** Yields when each upload starts, as a fraction of the campaign's faults. Uploads start in bursts. */
function* uploadPlan({ videos, seed }: CampaignOptions): Generator<{ from: number; random: Random }> {
  const BURST = 8;
  for (let i = 0; i < videos; i++) {
    yield { from: ((i - (i % BURST)) / videos) * 0.95, random: seeded(seed * 7919 + i) };
  }
}

function count(times: Map<string, number>, { name }: Fault): void {
  times.set(name, (times.get(name) ?? 0) + 1);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0]! : String(error);
}
