import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface MemoryLimit {
  bytes: number;
  source: string;
}

export interface AvailableMemory extends MemoryLimit {
  /** Not in use by any process, or only as a cache of files. */
  availableBytes: number;
}

/**
 * Returns the memory that this process and its children may use together: the lowest limit of its cgroup and the cgroup's
 * parents (v1 and v2), else the machine's memory. Null if the system is not Linux.
 * @param root folder that contains `proc` and `sys`
 */
export function readMemoryLimit(root = "/"): MemoryLimit | null {
  const [lowest] = readLimits(root).toSorted((a, b) => a.bytes - b.bytes);
  return lowest === undefined ? null : { bytes: lowest.bytes, source: lowest.source };
}

/** Returns the limit with the least available memory. Null if the system is not Linux. */
export function readAvailableMemory(root = "/"): AvailableMemory | null {
  return readLimits(root).toSorted((a, b) => a.availableBytes - b.availableBytes)[0] ?? null;
}

function readLimits(root: string): AvailableMemory[] {
  const read = (path: string) => {
    try {
      return readFileSync(join(root, path), "utf8");
    } catch {
      return "";
    }
  };
  const machine = read("proc/meminfo");
  const kibibytes = /^MemTotal:\s+(\d+) kB$/m.exec(machine)?.[1];
  const available = /^MemAvailable:\s+(\d+) kB$/m.exec(machine)?.[1] ?? kibibytes;
  const limits: AvailableMemory[] =
    kibibytes === undefined
      ? []
      : [
          {
            bytes: Number(kibibytes) * 1024,
            availableBytes: Number(available) * 1024,
            source: "the machine's memory",
          },
        ];
  for (const line of read("proc/self/cgroup").split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const isV2 = controllers === "";
    if (!isV2 && !controllers.split(",").includes("memory")) continue;
    const folder = isV2 ? "sys/fs/cgroup" : "sys/fs/cgroup/memory";
    // Above `memory.high`, the kernel slows processes down until they hardly run.
    const files = isV2 ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"];
    const names = path.split("/").filter((name) => name !== "");
    for (let depth = names.length; depth >= 0; depth--) {
      const cgroup = `/${names.slice(0, depth).join("/")}`;
      const readFile = (name: string) => read(join(folder, cgroup, name));
      for (const file of files) {
        // "max" or a huge number means no limit.
        const bytes = Number.parseInt(readFile(file), 10);
        if (!(bytes > 0)) continue;
        const availableBytes = bytes - usedBytes(readFile, isV2);
        limits.push({
          bytes,
          availableBytes,
          source: `the memory limit of its container or cgroup ${cgroup}`,
        });
      }
    }
  }
  return limits;
}

/** Returns a cgroup's memory without the cache of files, which the kernel frees when memory is needed. */
function usedBytes(read: (name: string) => string, isV2: boolean): number {
  const used = Number.parseInt(read(isV2 ? "memory.current" : "memory.usage_in_bytes"), 10);
  const caches = [...read("memory.stat").matchAll(isV2 ? CACHES : TOTAL_CACHES)];
  return (used || 0) - caches.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

const CACHES = /^(?:in)?active_file (\d+)$/gm;
/** In version 1, other entries leave out the cgroup's children. */
const TOTAL_CACHES = /^total_(?:in)?active_file (\d+)$/gm;
