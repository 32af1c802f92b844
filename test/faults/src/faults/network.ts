import { setTimeout as sleep } from "node:timers/promises";
import type { TcpProxy } from "../../../support/tcp-proxy.ts";
import type { Member } from "../fleet.ts";
import { between, pickOne } from "../random.ts";
import type { Fault } from "./fault.ts";

type Store = "database" | "bucket";

export function networkFaults(): Fault[] {
  return [
    ...(["database", "bucket"] as const).flatMap((store): Fault[] => [
      connectionFault(store, "connections cut", 14, async (network) => network.cut()),
      connectionFault(store, "hung", 8, async (network, random) => {
        await network.hang();
        await sleep(between(3_000, 20_000, random));
      }),
      connectionFault(store, "slow", 8, async (network, random) => {
        await network.slow(between(20, 250, random));
        await sleep(between(3_000, 8_000, random));
      }),
      connectionFault(store, "refused", 8, async (network, random) => {
        await network.refuse();
        await sleep(between(2_000, 12_000, random));
      }),
    ]),
    restart("fast", 5),
    restart("immediate", 7),
    {
      name: "bucket returns errors",
      share: 12,
      draw: (fleet) => ({ exclusive: "bucket itself", member: fleet.front }),
      async apply({ fleet }, _member, random) {
        if (!fleet.unreliable) return false;
        fleet.unreliable.failing = between(0.2, 1, random);
        await sleep(between(2_000, 10_000, random));
        fleet.unreliable.failing = 0;
        return true;
      },
    },
  ];
}

function connectionFault(
  store: Store,
  what: string,
  share: number,
  disrupt: (network: TcpProxy, random: () => number) => Promise<void>,
): Fault {
  return {
    name: `${store} ${what}`,
    share,
    draw(fleet, random) {
      const member = pickOne(fleet.members, random);
      return { exclusive: `${store} of ${member.name}`, member };
    },
    async apply(_world, member: Member, random) {
      const network = member[store];
      if (!network) return false;
      try {
        await disrupt(network, random);
      } finally {
        await network.pass();
      }
      return true;
    },
  };
}

function restart(mode: "fast" | "immediate", share: number): Fault {
  return {
    name: mode === "fast" ? "database restarted" : "database crashed",
    share,
    draw: (fleet) => ({ exclusive: "database itself", member: fleet.front }),
    async apply({ fleet }) {
      if (!fleet.stores) return false;
      await fleet.stores.restartDatabase(mode);
      return true;
    },
  };
}
