import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fitParallelism } from "../../src/processes/memory.ts";
import { readAvailableMemory, readMemoryLimit } from "../../src/processes/memory-limit.ts";
import { createSpeech } from "../../src/processes/process-pool.ts";

const MB = 1_000_000;

describe("the memory limit", () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "subtext-cgroup-"));
    write("proc/meminfo", "MemTotal:        8000000 kB\nMemFree:  1 kB\n");
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  test("is the machine's memory without cgroups", () => {
    expect(readMemoryLimit(root)?.bytes).toBe(8_000_000 * 1024);
  });

  test("is unknown if there is no /proc", () => {
    rmSync(join(root, "proc"), { recursive: true });
    expect(readMemoryLimit(root)).toBeNull();
  });

  test("is the smallest of nested cgroups of version 2", () => {
    write("proc/self/cgroup", "0::/system.slice/subtext.service\n");
    write("sys/fs/cgroup/system.slice/memory.max", `${900 * MB}\n`);
    write("sys/fs/cgroup/system.slice/subtext.service/memory.max", "max\n");
    expect(readMemoryLimit(root)).toMatchObject({
      bytes: 900 * MB,
      source: expect.stringContaining("/system.slice"),
    });
  });

  test("is the one at which the kernel slows the processes down, if it is smaller", () => {
    write("proc/self/cgroup", "0::/subtext.service\n");
    write("sys/fs/cgroup/subtext.service/memory.max", `${900 * MB}\n`);
    write("sys/fs/cgroup/subtext.service/memory.high", "max\n");
    expect(readMemoryLimit(root)?.bytes).toBe(900 * MB);
    write("sys/fs/cgroup/subtext.service/memory.high", `${800 * MB}\n`);
    expect(readMemoryLimit(root)?.bytes).toBe(800 * MB);
  });

  test("is that of a container, which sees its own cgroup as the root", () => {
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/memory.max", `${700 * MB}\n`);
    expect(readMemoryLimit(root)?.bytes).toBe(700 * MB);
  });

  test("is available as far as it is not used, not counting the cache of files", () => {
    write("proc/meminfo", "MemTotal: 8000000 kB\nMemFree: 1 kB\nMemAvailable: 3000000 kB\n");
    expect(readAvailableMemory(root)).toMatchObject({
      bytes: 8_000_000 * 1024,
      availableBytes: 3_000_000 * 1024,
    });
    write("proc/self/cgroup", "0::/subtext.service\n");
    write("sys/fs/cgroup/subtext.service/memory.max", `${900 * MB}\n`);
    write("sys/fs/cgroup/subtext.service/memory.current", `${600 * MB}\n`);
    const caches = `anon 1\ninactive_file ${100 * MB}\nactive_file ${50 * MB}\n`;
    write("sys/fs/cgroup/subtext.service/memory.stat", caches);
    expect(readAvailableMemory(root)).toMatchObject({
      availableBytes: 450 * MB,
      source: expect.stringContaining("/subtext.service"),
    });
    write("proc/self/cgroup", "4:memory:/docker/abc\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", `${700 * MB}\n`);
    write("sys/fs/cgroup/memory/memory.usage_in_bytes", `${600 * MB}\n`);
    const totals = caches.replaceAll(/(\w*active)/g, "total_$1");
    write("sys/fs/cgroup/memory/memory.stat", `inactive_file ${MB}\n${totals}`);
    expect(readAvailableMemory(root)).toMatchObject({ availableBytes: 250 * MB });
  });

  test("is that of the memory controller of version 1, also if the host's path is not mounted", () => {
    write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", `${600 * MB}\n`);
    expect(readMemoryLimit(root)?.bytes).toBe(600 * MB);
    write("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
    expect(readMemoryLimit(root)?.bytes).toBe(600 * MB);
  });
});

describe("parallelism", () => {
  const budget = (megabytes: number) => ({
    bytes: megabytes * MB,
    source: "the limit",
    reservedBytes: 500 * MB,
  });
  const asked = { processes: 4, threads: 2, modelBytes: 0, bundledBytes: 9.6 * 28 * MB };

  test("is as asked for if it fits", () => {
    expect(fitParallelism(asked, budget(6000))).toMatchObject({ processes: 4, threads: 2 });
  });

  test("has fewer processes, then fewer threads, if it does not", () => {
    expect(fitParallelism(asked, budget(3000))).toMatchObject({ processes: 2, threads: 2 });
    expect(fitParallelism(asked, budget(1400))).toMatchObject({ processes: 1, threads: 1, batchShare: 1 });
  });

  test("has smaller batches before a recording is refused", () => {
    expect(fitParallelism(asked, budget(1260))).toMatchObject({ processes: 1, threads: 1, batchShare: 0.5 });
    const large = { ...asked, modelBytes: 4 * 300 * MB };
    expect(fitParallelism(large, budget(3400))).toMatchObject({ processes: 1, threads: 1, batchShare: 1 });
    expect(fitParallelism(large, budget(2900))).toMatchObject({ processes: 1, threads: 1, batchShare: 0.25 });
  });

  test("leaves room for the decoder beside each process", () => {
    const { processes, processBytes } = fitParallelism(asked, budget(3000));
    expect(processes * (processBytes + 150 * MB)).toBeLessThanOrEqual(2500 * MB);
  });

  test("never takes more than there is", () => {
    for (let megabytes = 1300; megabytes < 8000; megabytes += 100) {
      const { processes, processBytes } = fitParallelism(asked, budget(megabytes));
      expect(processes * processBytes).toBeLessThanOrEqual((megabytes - 500) * MB);
    }
  });

  test("fails with the size that would do if not even one thread fits", () => {
    const failing = () => fitParallelism({ ...asked, modelBytes: 4 * 500 * MB }, budget(2000));
    expect(failing).toThrow(expect.objectContaining({ code: "insufficient_memory", retryable: false }));
    expect(failing).toThrow(/needs 3432 MiB of memory, but the limit is 1907 MiB\. Raise it to 3432 MiB/);
  });
});

test("a recording that does not fit into memory fails, and no process is started for it", async () => {
  const speech = createSpeech({
    parts: () => ({ bundled: true, multilingual: null, bundledTakesEnglish: false, remedy: "" }),
    processes: 2,
    threads: 2,
    memoryLimitBytes: 1600 * MB,
    memory: { bytes: 512 * MB, source: "the limit", reservedBytes: 300 * MB },
    heartbeatTimeoutMs: 30_000,
  });
  const job = { maxDurationSeconds: 60, signal: new AbortController().signal };
  for (let attempt = 0; attempt < 3; attempt++) {
    await expect(speech.transcribe("/nowhere.mp4", job)).rejects.toMatchObject({
      code: "insufficient_memory",
    });
  }
  await expect(speech.describe()).rejects.toMatchObject({ code: "insufficient_memory" });
  await speech.close();
});

test("jobs that do not fit into memory at the same time wait without planning again", async () => {
  let plans = 0;
  const servers = [{ url: "http://127.0.0.1:9", apiKey: null }];
  const multilingual = { kind: "openai" as const, servers, model: "whisper-1" };
  const parts = () => {
    plans += 1;
    if (plans > 9) throw new Error("The jobs plan again and again.");
    return { bundled: false, multilingual, bundledTakesEnglish: false, remedy: "" };
  };
  const speech = createSpeech({
    parts,
    processes: 3,
    threads: 1,
    memoryLimitBytes: 1600 * MB,
    memory: { bytes: 600 * MB, source: "the limit", reservedBytes: 0 },
    heartbeatTimeoutMs: 30_000,
  });
  const job = { maxDurationSeconds: 60, signal: new AbortController().signal };
  const jobs = Array.from({ length: 3 }, () => speech.transcribe(import.meta.filename, job));
  const outcomes = await Promise.allSettled(jobs);
  const unreadable = { status: "rejected", reason: { code: "unreadable_media" } };
  expect(outcomes).toMatchObject([unreadable, unreadable, unreadable]);
  expect(plans).toBe(3);
  await speech.close();
});
