import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, World } from "./fault.ts";
import { faultsFor } from "./faults.ts";
import { between, pickByShare, type Random, seeded } from "./seeded.ts";

/** Faults that are on at the same time. */
const RUNNERS = 4;
/** Uploads that are on at the same time. */
const UPLOADERS = 3;
const LONGEST_REST_MS = 600;

export interface CampaignOptions {
  faults: number;
  videos: number;
  seed: number;
  /** Name prefixes of the faults to run; empty for all. */
  only: string[];
  /** No fault begins later than so long after the start. */
  withinMs: number;
}

export interface Tally {
  /** By the fault's name. */
  times: Map<string, number>;
  /** Drawn, but nothing was there to be hit: by the fault's name. */
  missed: Map<string, number>;
  total: number;
}

/** Lets faults happen, drawn from the seed, while videos come; ends when all of both have. */
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
  const held = new Set<string>();
  let drawn = 0;
  let running = 0;

  const runner = async () => {
    while (!isOver() && tally.total + running < options.faults) {
      const fault = pickByShare(faults, plan);
      const { holds, member } = fault.draw(world.fleet, plan);
      drawn += 1;
      const random = seeded(options.seed * 100_003 + drawn);
      running += 1;
      try {
        while (holds !== "" && held.has(holds)) await sleep(50);
        held.add(holds);
        const happened = await fault.apply(world, member, random);
        count(happened ? tally.times : tally.missed, fault);
        if (happened) {
          tally.total += 1;
          if (tally.total % 20 === 0) console.log(`${tally.total} faults, ${world.uploads.length} videos`);
        }
      } catch (error) {
        world.customer.complaints.push(`while "${fault.name}" (${member.name}): ${describe(error)}`);
        count(tally.missed, fault);
      } finally {
        held.delete(holds);
        running -= 1;
      }
      await sleep(between(0, LONGEST_REST_MS, random));
    }
  };

  const upcoming = uploadPlan(options);
  const uploader = async () => {
    for (;;) {
      const next = upcoming.next();
      if (next.done) return;
      // The queue is to have work until the last fault.
      while (!isOver() && progress() < next.value.from) await sleep(100);
      const recording = pickByShare(world.recordings, next.value.random);
      try {
        world.uploads.push(await world.customer.upload(recording));
      } catch (error) {
        world.customer.complaints.push(`an upload of "${recording.name}" was refused: ${describe(error)}`);
      }
    }
  };
  await Promise.all([
    ...Array.from({ length: RUNNERS }, runner),
    ...Array.from({ length: UPLOADERS }, uploader),
  ]);
  console.log(`${tally.total} faults and ${world.uploads.length} videos`);
  return tally;
}

/** When each video comes, as a share of the campaign, in bursts. */
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
