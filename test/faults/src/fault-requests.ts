import type { Fault, World } from "./fault.ts";
import { pickByShare, pickOne, type Random } from "./seeded.ts";
import type { Customer, Upload } from "./uploads.ts";

/** What clients do: all of it is allowed, and none of it may do harm. */
export function requestFaults(): Fault[] {
  return [
    upload("pieces sent twice", 12, (customer, recording) => customer.uploadTwice(recording)),
    upload("pieces out of order", 12, (customer, recording) => customer.uploadOutOfOrder(recording)),
    upload("deleted while it comes", 8, (customer, recording) => customer.uploadAndDelete(recording)),
    {
      name: "deleted while it waits or runs",
      share: 12,
      draw: (fleet) => ({ holds: "", member: fleet.front }),
      async apply({ customer, uploads }, _member, random) {
        // The newest: the queue has not come far with them.
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
    draw: (fleet) => ({ holds: "", member: fleet.front }),
    async apply({ customer, recordings, uploads }, _member, random: Random) {
      uploads.push(await make(customer, pickByShare(recordings, random)));
      return true;
    },
  };
}
