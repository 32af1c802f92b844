import type { Fault } from "./fault.ts";
import { diskFaults } from "./fault-disk.ts";
import { networkFaults } from "./fault-network.ts";
import { processFaults } from "./fault-processes.ts";
import { requestFaults } from "./fault-requests.ts";
import type { Fleet } from "./fleet.ts";

/** The faults that can happen to this fleet. */
export function faultsFor(fleet: Fleet): Fault[] {
  return [
    ...processFaults(fleet),
    ...(fleet.stores ? networkFaults() : []),
    ...(fleet.members.some(({ disk }) => disk !== null) ? diskFaults() : []),
    ...requestFaults(),
  ];
}
