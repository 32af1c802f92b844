import type { HourView, SystemView } from "@subtext/server/admin/contract/system";
import { useQuery } from "@tanstack/react-query";
import { system as texts } from "../../messages/en/system.ts";
import { formatNumber } from "../../messages/numbers.ts";
import {
  formatBytes,
  formatDecimal,
  formatDuration,
  formatEstimate,
  formatPercent,
  formatTimeOfDay,
} from "../../ui/format.ts";
import { LoadState } from "../../ui/load-state.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { BarChart } from "./bar-chart.tsx";
import { Card, StatCard } from "./card.tsx";
import { Disk } from "./disk.tsx";
import { Engines, formatSpeed } from "./engines.tsx";
import { Health, HealthBadge } from "./health.tsx";
import { systemQuery } from "./queries.ts";
import css from "./system-page.module.css";
import tables from "./tables.module.css";

export function SystemPage() {
  const system = useQuery(systemQuery);
  const { data } = system;
  const description = data
    ? texts.runningFor(data.version, formatDuration(secondsBetween(data.startedAt, data.now)))
    : texts.description;
  return (
    <>
      <PageHeader title={texts.title} description={description}>
        <HealthBadge />
      </PageHeader>
      <LoadState query={system} />
      {data && <Stats {...data} />}
      <div className={css.cards}>
        {data && (
          <>
            <Throughput hours={data.hours} now={data.now} />
            <ActiveJobs running={data.running} processing={data.queue.processing} />
            <Machine machine={data.machine} processes={data.processes} />
            <Engines engines={data.engines} model={data.model} now={data.now} />
            <Disk disk={data.disk} now={data.now} />
          </>
        )}
        <Health />
      </div>
    </>
  );
}

function Stats({ queue, hours, engines, now }: SystemView) {
  const lastHour = hours.at(-1)!;
  const day = sumHours(hours);
  const mediaSeconds = engines.reduce((sum, engine) => sum + engine.mediaSeconds, 0);
  const workSeconds = engines.reduce((sum, engine) => sum + engine.workSeconds, 0);
  const oldest = queue.oldestPendingAt;
  return (
    <div className={css.stats}>
      <StatCard
        title={texts.queue}
        value={formatNumber(queue.pending)}
        unit={texts.queuedAndRunning(queue.processing)}
        text={oldest === null ? texts.queueEmpty : texts.oldest(formatDuration(secondsBetween(oldest, now)))}
      />
      <StatCard
        title={texts.lastHour}
        value={formatNumber(lastHour.completed)}
        unit={texts.videoUnit(lastHour.completed)}
        text={texts.ofMedia(formatDuration(lastHour.mediaSeconds))}
      />
      <StatCard
        title={texts.lastDay}
        value={formatNumber(day.completed)}
        unit={texts.videoUnit(day.completed)}
        text={[
          texts.ofMedia(formatDuration(day.mediaSeconds)),
          day.failed > 0 && texts.failedCount(day.failed),
        ]
          .filter(Boolean)
          .join(", ")}
      />
      <StatCard
        title={texts.speed}
        value={formatSpeed(mediaSeconds, workSeconds)}
        unit={workSeconds === 0 ? "" : texts.realTime}
        text={texts.allEngines}
      />
    </div>
  );
}

function Throughput({ hours, now }: Pick<SystemView, "hours" | "now">) {
  const bars = hours.map(({ completed, failed }, index) => ({
    label: formatTimeOfDay(Date.parse(now) - (hours.length - index) * 3_600_000),
    completed,
    failed,
  }));
  const { completed, failed, skipped } = sumHours(hours);
  const totals = [
    texts.completedCount(completed),
    failed > 0 && texts.failedCount(failed),
    skipped > 0 && texts.skippedCount(skipped),
  ];
  return (
    <Card isWide title={texts.videosPerHour} aside={totals.filter(Boolean).join(" · ")}>
      <BarChart title={texts.videosPerHour} bars={bars} />
    </Card>
  );
}

function sumHours(hours: HourView[]): HourView {
  return hours.reduce((sum, hour) => ({
    completed: sum.completed + hour.completed,
    failed: sum.failed + hour.failed,
    skipped: sum.skipped + hour.skipped,
    mediaSeconds: sum.mediaSeconds + hour.mediaSeconds,
  }));
}

function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}

function ActiveJobs({ running, processing }: { running: SystemView["running"]; processing: number }) {
  const more = processing - running.length;
  return (
    <Card title={texts.inProgress}>
      {running.length === 0 && <p className={tables.note}>{texts.noJobs}</p>}
      <ul className={tables.running}>
        {running.map(({ videoId, filename, progress, remainingSeconds }) => (
          <li key={videoId}>
            <span>{filename ?? videoId}</span>
            <div>
              <Progress label={texts.transcriptionOf(filename ?? videoId)} value={progress} />
              <p className={tables.note}>
                {formatPercent(progress)}
                {remainingSeconds !== null && `, ${texts.left(formatEstimate(remainingSeconds))}`}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {more > 0 && <p className={tables.note}>{texts.andMore(more)}</p>}
    </Card>
  );
}

/** Shows the machine that sent the response and the service's processes on it. */
function Machine({ machine, processes }: Pick<SystemView, "machine" | "processes">) {
  const { cores, load, memoryBytes, freeMemoryBytes } = machine;
  return (
    <Card title={texts.machine}>
      <p className={tables.note}>
        {texts.coresAndLoad(cores, formatDecimal(load))} ·{" "}
        {texts.memoryInUse(formatBytes(memoryBytes - freeMemoryBytes), formatBytes(memoryBytes))}
      </p>
      {processes.length > 0 && (
        <table className={tables.table}>
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
