import type { CDPSession } from "playwright-core";

/** Tasks of the page's main thread. */
export interface Tasks {
  "over 50 ms": number;
  "longest, ms": number;
  "longest, CPU ms": number;
  "all, CPU ms": number;
}

/** Long tasks as defined by `PerformanceObserver`. */
const LONG_MS = 50;

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Wall-clock time and thread CPU time in microseconds. */
  dur?: number;
  tdur?: number;
  args?: { name?: string };
}

/** Traces the tasks of the busiest renderer's main thread during an action. */
export async function measureTasks(devtools: CDPSession, action: () => Promise<unknown>): Promise<Tasks> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: object[] }) => events.push(...(value as TraceEvent[]));
  devtools.on("Tracing.dataCollected", collect);
  const categories = ["disabled-by-default-devtools.timeline", "devtools.timeline", "toplevel"].join(",");
  await devtools.send("Tracing.start", { categories, transferMode: "ReportEvents" });
  await action();
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
  if (!tasks?.length) throw new Error("the trace contains no task");
  const wallMs = tasks.map(({ dur = 0 }) => dur / 1000);
  const cpuMs = tasks.map(({ tdur = 0 }) => tdur / 1000);
  return {
    "over 50 ms": wallMs.filter((ms) => ms > LONG_MS).length,
    "longest, ms": Math.round(Math.max(...wallMs)),
    "longest, CPU ms": Math.round(Math.max(...cpuMs)),
    "all, CPU ms": Math.round(cpuMs.reduce((sum, ms) => sum + ms, 0)),
  };
}
