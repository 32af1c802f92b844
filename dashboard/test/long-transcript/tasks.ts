import type { CDPSession } from "playwright-core";

/** What the page's main thread did meanwhile. */
export interface Tasks {
  "over 50 ms": number;
  /** The longest, by the clock and by the processor. */
  "longest, ms": number;
  "longest, ms of processor": number;
  "all, ms of processor": number;
}

/** Long ones are what `PerformanceObserver` calls `longtask`. */
const LONG_MS = 50;

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds, by the clock and by the thread's processor time. */
  dur?: number;
  tdur?: number;
  args?: { name?: string };
}

/** The browser's own account of the tasks of the busiest renderer's main thread, while the deed is done. */
export async function measureTasks(devtools: CDPSession, deed: () => Promise<unknown>): Promise<Tasks> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: object[] }) => events.push(...(value as TraceEvent[]));
  devtools.on("Tracing.dataCollected", collect);
  const categories = ["disabled-by-default-devtools.timeline", "devtools.timeline", "toplevel"].join(",");
  await devtools.send("Tracing.start", { categories, transferMode: "ReportEvents" });
  await deed();
  const complete = new Promise((resolve) => devtools.once("Tracing.tracingComplete", resolve));
  await devtools.send("Tracing.end");
  await complete;
  devtools.off("Tracing.dataCollected", collect);

  const mainThreads = events.filter(
    ({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain",
  );
  const tasks = mainThreads
    .map(({ pid, tid }) =>
      events.filter(
        (event) => event.pid === pid && event.tid === tid && event.name === "RunTask" && event.ph === "X",
      ),
    )
    .sort((a, b) => b.length - a.length)[0];
  if (!tasks?.length) throw new Error("the browser told of no task");
  const clock = tasks.map(({ dur = 0 }) => dur / 1000);
  const processor = tasks.map(({ tdur = 0 }) => tdur / 1000);
  return {
    "over 50 ms": clock.filter((ms) => ms > LONG_MS).length,
    "longest, ms": Math.round(Math.max(...clock)),
    "longest, ms of processor": Math.round(Math.max(...processor)),
    "all, ms of processor": Math.round(processor.reduce((sum, ms) => sum + ms, 0)),
  };
}
