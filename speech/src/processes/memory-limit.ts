import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface MemoryLimit {
  bytes: number;
  source: string;
}

/**
 * Returns the memory that this process and its children may use together: the lowest limit of its cgroup and the cgroup's
 * parents (v1 and v2), else the machine's memory. Null if the system is not Linux.
 * @param root folder that contains `proc` and `sys`
 */
export function readMemoryLimit(root = "/"): MemoryLimit | null {
  const read = (path: string) => {
    try {
      return readFileSync(join(root, path), "utf8");
    } catch {
      return "";
    }
  };
  const kibibytes = /^MemTotal:\s+(\d+) kB$/m.exec(read("proc/meminfo"))?.[1];
  const limits: MemoryLimit[] =
    kibibytes === undefined ? [] : [{ bytes: Number(kibibytes) * 1024, source: "the machine's memory" }];
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
      for (const file of files) {
        // "max" or a huge number means no limit.
        const bytes = Number.parseInt(read(join(folder, cgroup, file)), 10);
        if (bytes > 0)
          limits.push({ bytes, source: `the memory limit of its container or cgroup ${cgroup}` });
      }
    }
  }
  return limits.toSorted((a, b) => a.bytes - b.bytes)[0] ?? null;
}
