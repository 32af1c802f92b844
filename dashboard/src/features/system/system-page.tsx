import type { HourView, SystemView } from "@subtext/server/admin/contract/system";
import { useQuery } from "@tanstack/react-query";
import { formatDuration } from "../../ui/format.ts";
import { ErrorNotice } from "../../ui/forms/controls.tsx";
import { PageHeader } from "../../ui/page.tsx";
import { ActiveJobs } from "./active-jobs.tsx";
import { BarChart } from "./bar-chart.tsx";
import { Card, StatCard } from "./card.tsx";
import { Disk } from "./disk.tsx";
import { Engines, realTimeFactor } from "./engines.tsx";
import { Health, HealthBadge } from "./health.tsx";
import { Machine } from "./machine.tsx";
import { systemQuery } from "./queries.ts";
import css from "./system-page.module.css";

export function SystemPage() {
  const { data, error } = useQuery(systemQuery);
  const description = data
    ? `Subtext ${data.version}, running for ${formatDuration(secondsBetween(data.startedAt, data.now))}.`
    : "Queue, throughput and health of the server.";
  return (
    <>
      <PageHeader title="System" description={description}>
        <HealthBadge />
      </PageHeader>
      <ErrorNotice error={error} />
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
        title="Queue"
        value={queue.pending.toLocaleString("en")}
        unit={`queued, ${queue.processing.toLocaleString("en")} running`}
        text={oldest === null ? "Queue is empty" : `Oldest: ${formatDuration(secondsBetween(oldest, now))}`}
      />
      <StatCard
        title="Last hour"
        value={lastHour.completed.toLocaleString("en")}
        unit={lastHour.completed === 1 ? "video" : "videos"}
        text={`${formatDuration(lastHour.mediaSeconds)} of media`}
      />
      <StatCard
        title="Last 24 hours"
        value={day.completed.toLocaleString("en")}
        unit={day.completed === 1 ? "video" : "videos"}
        text={`${formatDuration(day.mediaSeconds)} of media${day.failed > 0 ? `, ${day.failed} failed` : ""}`}
      />
      <StatCard
        title="Speed"
        value={realTimeFactor(mediaSeconds, workSeconds)}
        unit={workSeconds === 0 ? "" : "real time"}
        text="All engines, last 24 hours"
      />
    </div>
  );
}

function Throughput({ hours, now }: Pick<SystemView, "hours" | "now">) {
  const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
  const bars = hours.map(({ completed, failed }, index) => ({
    label: time.format(Date.parse(now) - (hours.length - index) * 3_600_000),
    completed,
    failed,
  }));
  const { completed, failed, skipped } = sumHours(hours);
  const totals = [
    `${completed.toLocaleString("en")} completed`,
    failed > 0 && `${failed} failed`,
    skipped > 0 && `${skipped} skipped`,
  ];
  return (
    <Card isWide title="Videos per hour" aside={totals.filter(Boolean).join(" · ")}>
      <BarChart title="Videos per hour" bars={bars} />
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
