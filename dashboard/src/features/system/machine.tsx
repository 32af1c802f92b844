import type { SystemView } from "@subtext/server/admin/contract/system";
import { system as texts } from "../../messages/en/system.ts";
import { formatBytes, formatDecimal } from "../../ui/format.ts";
import { Card } from "./card.tsx";
import css from "./tables.module.css";

/** Shows the machine that sent the response and the service's processes on it. */
export function Machine({ machine, processes }: Pick<SystemView, "machine" | "processes">) {
  const { cores, load, memoryBytes, freeMemoryBytes } = machine;
  return (
    <Card title={texts.machine}>
      <p className={css.note}>
        {texts.coresAndLoad(cores, formatDecimal(load))} ·{" "}
        {texts.memoryInUse(formatBytes(memoryBytes - freeMemoryBytes), formatBytes(memoryBytes))}
      </p>
      {processes.length > 0 && (
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">{texts.process}</th>
              <th scope="col">{texts.pid}</th>
              <th scope="col">{texts.memory}</th>
            </tr>
          </thead>
          <tbody>
            {processes.map(({ pid, role, residentBytes }) => (
              <tr key={pid}>
                <th scope="row">{texts.processes[role]}</th>
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
