import { readdir, readFile } from "node:fs/promises";
import { basename } from "node:path";

interface Running {
  pid: number;
  parent: number;
  residentBytes: number;
  command: string[];
}

export interface ServiceProcess {
  pid: number;
  role: "service" | "speech" | "decoder";
  residentBytes: number;
}

/**
 * Lists a process and its descendants that decode or recognize speech. Returns an empty list on systems without
 * `/proc`.
 */
export async function describeProcesses(rootPid: number): Promise<ServiceProcess[]> {
  const names = await readdir("/proc").catch(() => []);
  const all = (await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readProcess))).filter(
    (each) => each !== null,
  );
  const tree = all.filter(({ pid }) => pid === rootPid);
  for (let i = 0; i < tree.length; i++) tree.push(...all.filter(({ parent }) => parent === tree[i]?.pid));
  return tree.flatMap(({ pid, residentBytes, command }) => {
    const role = pid === rootPid ? "service" : roleOf(command);
    return role === null ? [] : [{ pid, role, residentBytes }];
  });
}

function roleOf(command: string[]): ServiceProcess["role"] | null {
  if (command.some((part) => /processes[/\\]process-main\.[jt]s$/.test(part))) return "speech";
  if (command.some((part) => /^ffmpeg/.test(basename(part)) || /media[/\\]node-av-child\.[jt]s$/.test(part)))
    return "decoder";
  return null;
}

async function readProcess(name: string): Promise<Running | null> {
  try {
    const [status, command] = await Promise.all([
      readFile(`/proc/${name}/status`, "utf8"),
      readFile(`/proc/${name}/cmdline`, "utf8"),
    ]);
    return { ...readStatus(status), command: command.split("\0") };
  } catch {
    // The process has ended.
    return null;
  }
}

/**
 * Parses `/proc/<pid>/status`. Unlike in `stat`, its unit of memory does not depend on the kernel's page size. Returns
 * 0 bytes for a process that is exiting.
 */
export function readStatus(status: string): { pid: number; parent: number; residentBytes: number } {
  const field = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
  return { pid: field("Pid"), parent: field("PPid"), residentBytes: field("VmRSS") * 1024 };
}
