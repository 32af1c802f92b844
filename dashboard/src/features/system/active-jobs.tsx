import type { SystemView } from "@subtext/server/admin/contract/system";
import { formatEstimate, formatPercent } from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { Card } from "./card.tsx";
import css from "./tables.module.css";

export function ActiveJobs({ running, processing }: { running: SystemView["running"]; processing: number }) {
  const more = processing - running.length;
  return (
    <Card title="In progress">
      {running.length === 0 && <p className={css.note}>No active jobs</p>}
      <ul className={css.running}>
        {running.map(({ videoId, filename, progress, remainingSeconds }) => (
          <li key={videoId}>
            <span>{filename ?? videoId}</span>
            <div>
              <Progress label={`Transcription of ${filename ?? videoId}`} value={progress} />
              <p className={css.note}>
                {formatPercent(progress)}
                {remainingSeconds !== null && `, ${formatEstimate(remainingSeconds)} left`}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {more > 0 && <p className={css.note}>and {more} more</p>}
    </Card>
  );
}
