import { readdir, statfs } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, type Registry } from "prom-client";
import type { ServiceProcess } from "../../lib/processes.ts";

const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;

export interface ProcessMetrics {
  collect(): Promise<void>;
  onSpeechProcess(): void;
  close(): void;
}

/** Uses the metric names of Prometheus client libraries, so that standard Node.js dashboards work. */
export function watchProcess(
  registry: Registry,
  describeChildren: () => Promise<ServiceProcess[]>,
  dataFolder: string,
): ProcessMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const cpu = new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time of this process, without its child processes.",
    registers,
  });
  const resident = gauge(
    "process_resident_memory_bytes",
    "Resident memory of this process, without its child processes.",
  );
  const openFiles = gauge("process_open_fds", "Open files and connections of this process.");
  const startTime = gauge("process_start_time_seconds", "When this process started, in Unix time.");
  const heap = gauge("nodejs_heap_size_used_bytes", "Used JavaScript heap.");
  const lag = {
    p50: gauge("nodejs_eventloop_lag_p50_seconds", "Event loop lag since the last scrape: p50."),
    p99: gauge("nodejs_eventloop_lag_p99_seconds", "Event loop lag since the last scrape: p99."),
    max: gauge("nodejs_eventloop_lag_max_seconds", "Event loop lag since the last scrape: maximum."),
  };
  const children = new Gauge({
    name: "subtext_child_processes",
    help: "Running child processes. `kind`: `speech` (engines) or `decoder`.",
    labelNames: ["kind"],
    registers,
  });
  const childMemory = new Gauge({
    name: "subtext_child_processes_resident_memory_bytes",
    help: "Total resident memory of these child processes.",
    labelNames: ["kind"],
    registers,
  });
  const freeDisk = gauge(
    "subtext_data_disk_free_bytes",
    "Free space on the disk of `DATA_DIR`. Without a bucket, uploads are refused below 1 GiB.",
  );
  const starts = new Counter({
    name: "subtext_speech_process_starts_total",
    help: "Speech processes started. A speech process that is idle for ten minutes is stopped.",
    registers,
  });

  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const usage = process.cpuUsage();
  startTime.set(performance.timeOrigin / 1000);

  return {
    async collect() {
      const { user, system } = process.cpuUsage(usage);
      usage.user += user;
      usage.system += system;
      cpu.inc((user + system) / 1e6);
      const { rss, heapUsed } = process.memoryUsage();
      resident.set(rss);
      heap.set(heapUsed);
      // Subtracts the timer's resolution, which is not lag.
      const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1000);
      lag.p50.set(seconds(delay.percentile(50)));
      lag.p99.set(seconds(delay.percentile(99)));
      lag.max.set(seconds(delay.max));
      delay.reset();
      const [files, disk, running] = await Promise.all([
        readdir("/proc/self/fd").catch(() => null),
        statfs(dataFolder).catch(() => null),
        describeChildren(),
      ]);
      // Without a value, a gauge would report 0, which means a full disk.
      if (disk) freeDisk.set(disk.bavail * disk.bsize);
      else freeDisk.remove();
      if (files) openFiles.set(files.length);
      else openFiles.remove();
      for (const kind of ["speech", "decoder"] as const) {
        const ofKind = running.filter(({ role }) => role === kind);
        children.set({ kind }, ofKind.length);
        childMemory.set(
          { kind },
          ofKind.reduce((bytes, { residentBytes }) => bytes + residentBytes, 0),
        );
      }
    },
    onSpeechProcess: () => starts.inc(),
    close: () => delay.disable(),
  };
}
