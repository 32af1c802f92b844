import type { HourView, SystemView } from "@subtext/server/admin/contract/system";
import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../admin-client/request.ts";
import { Notice } from "../../ui/controls.tsx";
import { lasting } from "../../ui/format.ts";
import { PageHeader } from "../../ui/page.tsx";
import { Bars } from "./bars.tsx";
import { Card, Figure } from "./card.tsx";
import { Disk } from "./disk.tsx";
import { Engines, speed } from "./engines.tsx";
import { Health, HealthBadge } from "./health.tsx";
import { systemQuery } from "./queries.ts";
import css from "./system-page.module.css";
import { Machine, Work } from "./work.tsx";

export function SystemPage() {
  const { data, error } = useQuery(systemQuery);
  const lead = data
    ? `Subtext ${data.version}, running for ${lasting(secondsBetween(data.startedAt, data.now))}.`
    : "How the service is doing.";
  return (
    <>
      <PageHeader title="System" lead={lead}>
        <HealthBadge />
      </PageHeader>
      {error && <Notice tone="bad">{messageOf(error)}</Notice>}
      {data && <Figures {...data} />}
      <div className={css.cards}>
        {data && (
          <>
            <Throughput hours={data.hours} now={data.now} />
            <Work running={data.running} processing={data.queue.processing} />
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

function Figures({ queue, hours, engines, now }: SystemView) {
  const lastHour = hours.at(-1)!;
  const day = sumOf(hours);
  const mediaSeconds = engines.reduce((sum, engine) => sum + engine.mediaSeconds, 0);
  const workSeconds = engines.reduce((sum, engine) => sum + engine.workSeconds, 0);
  const [factor, ...unit] = speed(mediaSeconds, workSeconds).split(" ");
  const oldest = queue.oldestPendingAt;
  return (
    <div className={css.figures}>
      <Figure
        name="In the queue"
        value={queue.pending.toLocaleString("en")}
        unit={queue.processing > 0 ? `and ${queue.processing} at work` : ""}
        text={
          oldest === null ? "Nobody waits." : `The oldest waits for ${lasting(secondsBetween(oldest, now))}.`
        }
      />
      <Figure
        name="Last hour"
        value={lastHour.completed.toLocaleString("en")}
        unit={lastHour.completed === 1 ? "video" : "videos"}
        text={`${lasting(lastHour.mediaSeconds)} of media`}
      />
      <Figure
        name="Last 24 hours"
        value={day.completed.toLocaleString("en")}
        unit={day.completed === 1 ? "video" : "videos"}
        text={`${lasting(day.mediaSeconds)} of media${day.failed > 0 ? `, ${day.failed} failed` : ""}`}
      />
      <Figure
        name="Speed"
        value={workSeconds === 0 ? "–" : factor!}
        unit={workSeconds === 0 ? "" : unit.join(" ")}
        text="All engines, over the last 24 hours"
      />
    </div>
  );
}

function Throughput({ hours, now }: Pick<SystemView, "hours" | "now">) {
  const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
  const bars = hours.map(({ completed, failed }, index) => ({
    name: time.format(Date.parse(now) - (hours.length - index) * 3_600_000),
    good: completed,
    bad: failed,
  }));
  const { completed, failed, skipped } = sumOf(hours);
  const words = [
    `${completed.toLocaleString("en")} completed`,
    failed > 0 && `${failed} failed`,
    skipped > 0 && `${skipped} skipped`,
  ];
  return (
    <Card wide title="Videos an hour" aside={words.filter(Boolean).join(" · ")}>
      <Bars title="Videos an hour" unit="videos" bars={bars} />
    </Card>
  );
}

function sumOf(hours: HourView[]): HourView {
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
