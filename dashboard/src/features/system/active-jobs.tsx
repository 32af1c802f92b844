import type { SystemView } from "@subtext/server/admin/contract/system";
import { system as texts } from "../../messages/en/system.ts";
import { formatEstimate, formatPercent } from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { Card } from "./card.tsx";
import css from "./tables.module.css";

export function ActiveJobs({ running, processing }: { running: SystemView["running"]; processing: number }) {
  const more = processing - running.length;
  return (
    <Card title={texts.inProgress}>
      {running.length === 0 && <p className={css.note}>{texts.noJobs}</p>}
      <ul className={css.running}>
        {running.map(({ videoId, filename, progress, remainingSeconds }) => (
          <li key={videoId}>
            <span>{filename ?? videoId}</span>
            <div>
              <Progress label={texts.transcriptionOf(filename ?? videoId)} value={progress} />
              <p className={css.note}>
                {formatPercent(progress)}
                {remainingSeconds !== null && `, ${texts.left(formatEstimate(remainingSeconds))}`}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {more > 0 && <p className={css.note}>{texts.andMore(more)}</p>}
    </Card>
  );
}
