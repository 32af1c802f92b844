import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@subtext/bench/seeded";
import type { Fleet } from "../fleet.ts";
import { between, pickByShare, pickOne } from "../random.ts";
import type { Customer, Upload } from "../uploads.ts";
import type { Fault, World } from "./fault.ts";
import { networkFaults } from "./network.ts";
import { processFaults } from "./processes.ts";

export function faultsFor(fleet: Fleet): Fault[] {
  return [
    ...processFaults(fleet),
    ...(fleet.stores ? networkFaults() : []),
    ...(fleet.members.some(({ disk }) => disk !== null) ? diskFaults() : []),
    ...requestFaults(),
  ];
}

function diskFaults(): Fault[] {
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

/** Unusual requests that clients are allowed to send. */
function requestFaults(): Fault[] {
  return [
    upload("chunks sent twice", 12, (customer, recording) => customer.uploadTwice(recording)),
    upload("chunks out of order", 12, (customer, recording) => customer.uploadOutOfOrder(recording)),
    upload("deleted during upload", 8, (customer, recording) => customer.uploadAndDelete(recording)),
    {
      name: "deleted while pending or processing",
      share: 12,
      draw: (fleet) => ({ exclusive: "", member: fleet.front }),
      async apply({ customer, uploads }, _member, random) {
        // The newest videos are probably still pending or processing.
        const newest = uploads.slice(-8).filter(({ deletion }) => deletion === "none");
        if (newest.length === 0) return false;
        await customer.delete(pickOne(newest, random));
        return true;
      },
    },
  ];
}

function upload(
  name: string,
  share: number,
  make: (customer: Customer, recording: World["recordings"][number]) => Promise<Upload>,
): Fault {
  return {
    name,
    share,
    draw: (fleet) => ({ exclusive: "", member: fleet.front }),
    async apply({ customer, recordings, uploads }, _member, random: Random) {
      uploads.push(await make(customer, pickByShare(recordings, random)));
      return true;
    },
  };
}
