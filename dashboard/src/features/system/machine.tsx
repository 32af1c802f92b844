import type { ProcessView, SystemView } from "@subtext/server/admin/contract/system";
import { formatBytes, formatCount } from "../../ui/format.ts";
import { Card } from "./card.tsx";
import css from "./tables.module.css";

const ROLES: Record<ProcessView["role"], string> = {
  service: "Service",
  speech: "Speech engine",
  decoder: "Decoder",
};

/** Shows the machine that sent the response and the service's processes on it. */
export function Machine({ machine, processes }: Pick<SystemView, "machine" | "processes">) {
  const { cores, load, memoryBytes, freeMemoryBytes } = machine;
  return (
    <Card title="Machine">
      <p className={css.note}>
        {formatCount(cores, "core")}, load {load.toFixed(1)} · {formatBytes(memoryBytes - freeMemoryBytes)} of{" "}
        {formatBytes(memoryBytes)} memory in use
      </p>
      {processes.length > 0 && (
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">Process</th>
              <th scope="col">PID</th>
              <th scope="col">Memory</th>
            </tr>
          </thead>
          <tbody>
            {processes.map(({ pid, role, residentBytes }) => (
              <tr key={pid}>
                <th scope="row">{ROLES[role]}</th>
                <td>{pid}</td>
                <td>{formatBytes(residentBytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
