import type { Random } from "@subtext/bench/seeded";
import { pickByShare, pickOne } from "../random.ts";
import type { Customer, Upload } from "../uploads.ts";
import type { Fault, World } from "./fault.ts";

/** Unusual requests that clients are allowed to send. */
export function requestFaults(): Fault[] {
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
