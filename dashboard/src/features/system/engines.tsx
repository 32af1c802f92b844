import type { ModelView, SystemView } from "@subtext/server/admin/contract/system";
import { Notice } from "../../ui/controls.tsx";
import { bytes, lasting } from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { Prose } from "../../ui/prose.tsx";
import { Card } from "./card.tsx";
import css from "./tables.module.css";

/** How fast each engine was, and how the multilingual model comes to be there. */
export function Engines({ engines, model, now }: Pick<SystemView, "engines" | "model" | "now">) {
  return (
    <Card wide title="Engines" aside="The last 24 hours">
      <Model model={model} now={now} />
      {engines.length === 0 ? (
        <p className={css.none}>Nothing was transcribed in the last 24 hours.</p>
      ) : (
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">Engine</th>
              <th scope="col">Videos</th>
              <th scope="col">Media</th>
              <th scope="col">Speed</th>
            </tr>
          </thead>
          <tbody>
            {engines.map(({ name, completed, mediaSeconds, workSeconds }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{completed.toLocaleString("en")}</td>
                <td>{lasting(mediaSeconds)}</td>
                <td>{speed(mediaSeconds, workSeconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

/** `34 × real time` */
export function speed(mediaSeconds: number, workSeconds: number): string {
  if (workSeconds === 0) return "unknown";
  const factor = mediaSeconds / workSeconds;
  return `${factor >= 10 ? Math.round(factor) : factor.toFixed(1)} × real time`;
}

function Model({ model, now }: { model: ModelView; now: string }) {
  const { wanted, state, progress, error, nextTryAt } = model;
  if (state === "unwanted") return null;
  if (state === "installed") {
    return (
      <p className={css.none}>
        Multilingual model: <strong>{wanted}</strong>, installed.
      </p>
    );
  }
  if (state === "downloading") {
    const {
      receivedBytes = 0,
      totalBytes = null,
      bytesPerSecond = null,
      remainingSeconds = null,
    } = progress ?? {};
    const facts = [
      totalBytes === null ? bytes(receivedBytes) : `${bytes(receivedBytes)} of ${bytes(totalBytes)}`,
      bytesPerSecond !== null && `${bytes(bytesPerSecond)} a second`,
      remainingSeconds !== null && `${lasting(remainingSeconds)} left`,
    ];
    return (
      <div className={css.model}>
        <p>
          The multilingual model <strong>{wanted}</strong> is being downloaded; English is transcribed
          meanwhile.
        </p>
        <Progress name={`Download of ${wanted}`} share={totalBytes ? receivedBytes / totalBytes : 0} />
        <p className={css.none}>{facts.filter(Boolean).join(" · ")}</p>
      </div>
    );
  }
  const wait = nextTryAt === null ? null : (Date.parse(nextTryAt) - Date.parse(now)) / 1000;
  return (
    <Notice tone={state === "failed" ? "bad" : "plain"}>
      {state === "failed" && error ? (
        <Prose text={error} />
      ) : (
        `The multilingual model ${wanted} is not installed: only English is transcribed.`
      )}
      {wait !== null && ` It is tried again in ${lasting(Math.max(0, wait))}.`}
    </Notice>
  );
}
