import type { SpawnedService } from "@subtext/bench/spawned-service";
import { sleep } from "@subtext/bench/spawned-service";
import { diskFaults } from "./fault-disk.ts";
import { networkFaults } from "./fault-network.ts";
import { processFaults } from "./fault-processes.ts";
import { requestFaults } from "./fault-requests.ts";
import type { Fleet, Member } from "./fleet.ts";
import type { Recording } from "./recordings.ts";
import type { Random } from "./seeded.ts";
import type { Customer, Upload } from "./uploads.ts";

/** All that a fault may lay hands on. */
export interface World {
  fleet: Fleet;
  customer: Customer;
  recordings: Recording[];
  /** Those that are under way and those that have come; faults add to them. */
  uploads: Upload[];
}

export interface Fault {
  name: string;
  /** How often it is drawn, beside the others. */
  share: number;
  /** What it needs for itself: no two faults hold one of these at a time. Drawn from the seed alone. */
  draw(fleet: Fleet, random: Random): { holds: string; member: Member };
  /** @returns false where there was nothing to hit */
  apply(world: World, member: Member, random: Random): Promise<boolean>;
}

/** Those that can be done to this fleet. */
export function faultsFor(fleet: Fleet): Fault[] {
  return [
    ...processFaults(fleet),
    ...(fleet.stores ? networkFaults() : []),
    ...(fleet.members.some(({ disk }) => disk !== null) ? diskFaults() : []),
    ...requestFaults(),
  ];
}

/** Looks often until there is something; null where nothing comes in time. */
export async function soon<T>(look: () => T | null | undefined, withinMs: number): Promise<T | null> {
  const givesUpAt = performance.now() + withinMs;
  for (;;) {
    const found = look();
    if (found !== null && found !== undefined) return found;
    if (performance.now() > givesUpAt) return null;
    await sleep(15);
  }
}

/** Sends a signal; false where the process has just ended. */
export function signal(pid: number | undefined, name: NodeJS.Signals): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

export function isRunning({ service }: { service: SpawnedService }): boolean {
  return service.running;
}
