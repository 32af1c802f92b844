import { setTimeout as sleep } from "node:timers/promises";
import { between, pickOne } from "../random.ts";
import type { Fault } from "./fault.ts";

export function diskFaults(): Fault[] {
  return [
    {
      name: "disk full",
      share: 10,
      draw(fleet, random) {
        const member = pickOne(
          fleet.workers.filter(({ disk }) => disk !== null),
          random,
        );
        return { exclusive: `disk of ${member.name}`, member };
      },
      async apply(_world, { disk }, random) {
        if (!disk) return false;
        disk.fill();
        await sleep(between(2_000, 12_000, random));
        disk.makeRoom();
        return true;
      },
    },
  ];
}
