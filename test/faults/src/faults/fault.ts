import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@subtext/bench/seeded";
import type { SpawnedService } from "@subtext/bench/spawned-service";
import type { Fleet, Member } from "../fleet.ts";
import type { Recording } from "../recordings.ts";
import type { Customer, Upload } from "../uploads.ts";

export interface World {
  fleet: Fleet;
  customer: Customer;
  recordings: Recording[];
  /** Running and finished uploads; faults add to them. */
  uploads: Upload[];
}

export interface Fault {
  name: string;
  /** Relative probability of being drawn. */
  share: number;
  /** Chooses the member and the resource that the fault needs exclusively. The choice depends only on the seed. */
  draw(fleet: Fleet, random: Random): { exclusive: string; member: Member };
  /** @returns false if there was no target */
  apply(world: World, member: Member, random: Random): Promise<boolean>;
}

/** Polls until `find` returns a value. Returns null after the timeout. */
export async function pollUntil<T>(find: () => T | null | undefined, timeoutMs: number): Promise<T | null> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = find();
    if (found !== null && found !== undefined) return found;
    if (performance.now() > deadline) return null;
    await sleep(15);
  }
}

/** Returns false if the process has ended. */
export function signal(pid: number | undefined, name: NodeJS.Signals): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

export function isRunning({ service }: { service: SpawnedService }): boolean {
  return service.isRunning;
}
