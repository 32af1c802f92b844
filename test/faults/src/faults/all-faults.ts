import type { Fleet } from "../fleet.ts";
import { diskFaults } from "./disk.ts";
import type { Fault } from "./fault.ts";
import { networkFaults } from "./network.ts";
import { processFaults } from "./processes.ts";
import { requestFaults } from "./requests.ts";

export function faultsFor(fleet: Fleet): Fault[] {
  return [
    ...processFaults(fleet),
    ...(fleet.stores ? networkFaults() : []),
    ...(fleet.members.some(({ disk }) => disk !== null) ? diskFaults() : []),
    ...requestFaults(),
  ];
}
