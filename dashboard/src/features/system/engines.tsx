import type { ModelView, SystemView } from "@subtext/server/admin/contract/system";
import { formatBytes, formatDuration } from "../../ui/format.ts";
import { Notice } from "../../ui/forms/controls.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Card, TextWithCode } from "./card.tsx";
import css from "./tables.module.css";

export function Engines({ engines, model, now }: Pick<SystemView, "engines" | "model" | "now">) {
  return (
    <Card isWide title="Engines" aside="Last 24 hours">
      <Model model={model} now={now} />
      {engines.length === 0 ? (
        <p className={css.note}>No transcriptions in the last 24 hours.</p>
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
                <td>{formatDuration(mediaSeconds)}</td>
                <td>
                  {realTimeFactor(mediaSeconds, workSeconds)}
                  {workSeconds > 0 && " real time"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

/** Returns e.g. `34×`, or `–` if nothing was transcribed. */
export function realTimeFactor(mediaSeconds: number, workSeconds: number): string {
  if (workSeconds === 0) return "–";
  const factor = mediaSeconds / workSeconds;
  return `${factor >= 10 ? Math.round(factor) : factor.toFixed(1)}×`;
}

function Model({ model, now }: { model: ModelView; now: string }) {
  const { wanted, state, progress, error, nextTryAt } = model;
  if (state === "unwanted") return null;
  if (state === "installed") {
    return (
      <p className={css.note}>
        Multilingual model: <strong>{wanted}</strong> (installed)
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
      formatBytes(receivedBytes) + (totalBytes === null ? "" : ` of ${formatBytes(totalBytes)}`),
      bytesPerSecond !== null && `${formatBytes(bytesPerSecond)}/s`,
      remainingSeconds !== null && `${formatDuration(remainingSeconds)} left`,
    ];
    return (
      <div className={css.model}>
        <p>
          Downloading the multilingual model <strong>{wanted}</strong>. Until then, only English is
          transcribed.
        </p>
        <Progress label={`Download of ${wanted}`} value={totalBytes ? receivedBytes / totalBytes : 0} />
        <p className={css.note}>{facts.filter(Boolean).join(" · ")}</p>
      </div>
    );
  }
  const waitSeconds = nextTryAt === null ? null : (Date.parse(nextTryAt) - Date.parse(now)) / 1000;
  return (
    <Notice tone={state === "failed" ? "bad" : "plain"}>
      {state === "failed" && error ? (
        <TextWithCode text={error} />
      ) : (
        `English only: the multilingual model ${wanted} is not installed.`
      )}
      {waitSeconds !== null && ` Next attempt in ${formatDuration(Math.max(0, waitSeconds))}.`}
    </Notice>
  );
}
