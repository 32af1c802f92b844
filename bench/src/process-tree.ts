import { readdirSync, readFileSync } from "node:fs";

export interface RunningProcess {
  pid: number;
  parent: number;
  command: string;
  residentBytes: number;
}

const PAGE_BYTES = 4096;

/** Reads a process and its descendants from /proc. Returns an empty list if the process has ended. */
export function processTree(rootPid: number): RunningProcess[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
  const tree: RunningProcess[] = all.filter(({ pid }) => pid === rootPid);
  for (let i = 0; i < tree.length; i++) tree.push(...all.filter(({ parent }) => parent === tree[i]?.pid));
  return tree;
}

function readProcess(pid: number): RunningProcess | null {
  try {
    const fields = readStat(pid);
    if (fields[0] === "Z") return null;
    return {
      pid,
      parent: Number(fields[1]),
      residentBytes: Number(fields[21]) * PAGE_BYTES,
      command: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim(),
    };
  } catch {
    // The process has ended.
    return null;
  }
}

/** Returns the fields of `/proc/PID/stat` after the program name, which may contain spaces and parentheses. */
function readStat(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Samples the resident memory of a process and its descendants, in bytes. The process may be restarted meanwhile. */
export function memoryOverTime(rootPid: () => number | undefined): { stop(): number[] } {
  const samples: number[] = [];
  const timer = setInterval(() => {
    const pid = rootPid();
    if (pid !== undefined) samples.push(residentBytesOfTree(pid));
  }, 250);
  return {
    stop() {
      clearInterval(timer);
      return samples;
    },
  };
}

function residentBytesOfTree(rootPid: number): number {
  return processTree(rootPid).reduce((sum, { residentBytes }) => sum + residentBytes, 0);
}

const TICKS_PER_SECOND = 100;

/** Returns the CPU time of a running process and, separately, of its children that have ended. */
export function cpuSeconds(pid: number): { own: number; children: number } {
  const fields = readStat(pid);
  const seconds = (...indexes: number[]) =>
    indexes.reduce((sum, index) => sum + Number(fields[index]), 0) / TICKS_PER_SECOND;
  return { own: seconds(11, 12), children: seconds(13, 14) };
}
