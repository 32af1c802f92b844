import { readdirSync, readFileSync } from "node:fs";

export interface RunningProcess {
  pid: number;
  parent: number;
  command: string;
  residentBytes: number;
}

const PAGE_BYTES = 4096;

/** A process and its descendants, from /proc (Linux); empty if it has ended. */
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
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z") return null;
    return {
      pid,
      parent: Number(fields[1]),
      residentBytes: Number(fields[21]) * PAGE_BYTES,
      command: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim(),
    };
  } catch {
    // It ended while it was looked at.
    return null;
  }
}

/** The highest resident memory of a tree while it is watched, summed over its processes. */
export function watchMemory(rootPid: () => number | undefined): { stop(): number } {
  let peak = 0;
  const look = () => {
    const pid = rootPid();
    if (pid !== undefined) peak = Math.max(peak, residentBytesOfTree(pid));
  };
  const timer = setInterval(look, 250);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

/** Resident memory of a tree, four times a second. */
export function memoryOverTime(rootPid: number): { stop(): number[] } {
  const seen: number[] = [];
  const timer = setInterval(() => seen.push(residentBytesOfTree(rootPid)), 250);
  return {
    stop() {
      clearInterval(timer);
      return seen;
    },
  };
}

function residentBytesOfTree(rootPid: number): number {
  return processTree(rootPid).reduce((sum, { residentBytes }) => sum + residentBytes, 0);
}

const TICKS_PER_SECOND = 100;

/** Processor time of a process that runs, and of those of its children that have ended. */
export function cpuSeconds(pid: number): { own: number; children: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const seconds = (...places: number[]) =>
    places.reduce((sum, place) => sum + Number(fields[place]), 0) / TICKS_PER_SECOND;
  return { own: seconds(11, 12), children: seconds(13, 14) };
}
