import type { ModelView, SystemView } from "@subtext/server/admin/contract/system";
import { system as texts } from "../../messages/en/system.ts";
import { formatNumber } from "../../messages/numbers.ts";
import { formatBytes, formatDecimal, formatDuration } from "../../ui/format.ts";
import { Notice } from "../../ui/forms/controls.tsx";
import { Progress } from "../../ui/progress.tsx";
import { RichText } from "../../ui/rich-text.tsx";
import { Card, TextWithCode } from "./card.tsx";
import css from "./tables.module.css";

export function Engines({ engines, model, now }: Pick<SystemView, "engines" | "model" | "now">) {
  return (
    <Card isWide title={texts.engines} aside={texts.lastDay}>
      <Model model={model} now={now} />
      {engines.length === 0 ? (
        <p className={css.note}>{texts.noTranscriptions}</p>
      ) : (
        <table className={css.table}>
          <thead>
            <tr>
              <th scope="col">{texts.engine}</th>
              <th scope="col">{texts.videos}</th>
              <th scope="col">{texts.media}</th>
              <th scope="col">{texts.speed}</th>
            </tr>
          </thead>
          <tbody>
            {engines.map(({ name, completed, mediaSeconds, workSeconds }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{formatNumber(completed)}</td>
                <td>{formatDuration(mediaSeconds)}</td>
                <td>
                  {formatSpeed(mediaSeconds, workSeconds)}
                  {workSeconds > 0 && ` ${texts.realTime}`}
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
export function formatSpeed(mediaSeconds: number, workSeconds: number): string {
  if (workSeconds === 0) return "–";
  const factor = mediaSeconds / workSeconds;
  return `${factor >= 10 ? formatNumber(Math.round(factor)) : formatDecimal(factor)}×`;
}

function Model({ model, now }: { model: ModelView; now: string }) {
  const { wanted, state, speed, progress, error, nextTryAt } = model;
  if (state === "unwanted") return null;
  if (state === "installed") {
    return (
      <p className={css.note}>
        <RichText parts={texts.modelInstalled(<strong>{wanted}</strong>)} />
        {speed &&
          ` · ${texts.speeds[speed.isMeasured ? "measured" : "estimated"](formatDecimal(speed.realTime))}`}
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
      totalBytes === null
        ? formatBytes(receivedBytes)
        : texts.receivedOf(formatBytes(receivedBytes), formatBytes(totalBytes)),
      bytesPerSecond !== null && texts.perSecond(formatBytes(bytesPerSecond)),
      remainingSeconds !== null && texts.left(formatDuration(remainingSeconds)),
    ];
    return (
      <div className={css.model}>
        <p>
          <RichText parts={texts.modelDownloading(<strong>{wanted}</strong>)} />
        </p>
        <Progress
          label={texts.downloadOf(wanted ?? "")}
          value={totalBytes ? receivedBytes / totalBytes : 0}
        />
        <p className={css.note}>{facts.filter(Boolean).join(" · ")}</p>
      </div>
    );
  }
  const waitSeconds = nextTryAt === null ? null : (Date.parse(nextTryAt) - Date.parse(now)) / 1000;
  return (
    <Notice tone={state === "failed" ? "bad" : "plain"}>
      {state === "failed" && error ? (
        <span lang="en">
          <TextWithCode text={error} />
        </span>
      ) : (
        texts.modelMissing(wanted ?? "")
      )}
      {waitSeconds !== null && ` ${texts.nextAttempt(formatDuration(Math.max(0, waitSeconds)))}`}
    </Notice>
  );
}
