import type { ProcessView, SystemView } from "@subtext/server/admin/contract/system";
import { bytes, roughly } from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { Card } from "./card.tsx";
import css from "./tables.module.css";

const ROLES: Record<ProcessView["role"], string> = {
  service: "Service",
  speech: "Speech engine",
  decoder: "Decoder",
};

/** What workers are at. */
export function Work({ running, processing }: { running: SystemView["running"]; processing: number }) {
  const more = processing - running.length;
  return (
    <Card title="Being transcribed">
      {running.length === 0 && <p className={css.none}>Nothing at the moment.</p>}
      <ul className={css.running}>
        {running.map(({ videoId, filename, progress, remainingSeconds }) => (
          <li key={videoId}>
            <span>{filename ?? videoId}</span>
            <div>
              <Progress name={`Transcription of ${filename ?? videoId}`} share={progress} />
              <p className={css.none}>
                {Math.floor(progress * 100)} %
                {remainingSeconds !== null && `, ${roughly(remainingSeconds)} left`}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {more > 0 && <p className={css.none}>and {more} more</p>}
    </Card>
  );
}

/** The machine that answered, and what the service runs on it. */
export function Machine({ machine, processes }: Pick<SystemView, "machine" | "processes">) {
  const { cores, load, memoryBytes, freeMemoryBytes } = machine;
  return (
    <Card title="Machine">
      <p className={css.none}>
        {cores} {cores === 1 ? "core" : "cores"}, load {load.toFixed(1)} ·{" "}
        {bytes(memoryBytes - freeMemoryBytes)} of {bytes(memoryBytes)} memory in use
      </p>
      {processes.length > 0 && (
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">Process</th>
              <th scope="col">Number</th>
              <th scope="col">Memory</th>
            </tr>
          </thead>
          <tbody>
            {processes.map(({ pid, role, residentBytes }) => (
              <tr key={pid}>
                <th scope="row">{ROLES[role]}</th>
                <td>{pid}</td>
                <td>{bytes(residentBytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
