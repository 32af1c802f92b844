import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { cpuSeconds, processTree } from "./process-tree.ts";
import { freePort, SpawnedService, sleep } from "./spawned-service.ts";
import { printTable } from "./table.ts";

// Measures the embedded service's first and later startup times, and its idle cost.
// npm run bench:start -- [seconds of idle measurement]

const IDLE_SECONDS = Number(process.argv[2] ?? 60);
const LATER_STARTS = 3;
/** Time for the work after a start, for example the first sweep. */
const SETTLE_MS = 5_000;

const folder = await mkdtemp(join(tmpdir(), "subtext-start-"));
try {
  const service = new SpawnedService(join(folder, "data"), await freePort());
  const rows: string[][] = [];
  for (let turn = 0; turn <= LATER_STARTS; turn++) {
    const begin = performance.now();
    await service.start();
    const seconds = (performance.now() - begin) / 1000;
    const { own, children } = cpuSeconds(service.pid!);
    rows.push([
      turn === 0 ? "first start" : `start ${turn + 1}`,
      seconds.toFixed(2),
      (own + children).toFixed(2),
    ]);
    if (turn < LATER_STARTS) await service.end("SIGTERM");
  }
  printTable(
    "From the start of the process to the first successful response of /readyz",
    ["", "seconds", "processor seconds"],
    rows,
  );

  await sleep(SETTLE_MS);
  const before = cpuSeconds(service.pid!);
  await sleep(IDLE_SECONDS * 1000);
  const after = cpuSeconds(service.pid!);
  const spent = after.own + after.children - before.own - before.children;
  const tree = processTree(service.pid!);
  const mebibytes = tree.reduce((sum, { residentBytes }) => sum + residentBytes, 0) / 1024 ** 2;
  printTable(
    `Idle for ${IDLE_SECONDS} s, before the first recording`,
    ["", ""],
    [
      ["processes", String(tree.length)],
      ["resident memory, MiB", mebibytes.toFixed(0)],
      ["CPU time, % of one core", ((spent / IDLE_SECONDS) * 100).toFixed(2)],
    ],
  );
  console.log(
    `\n  ${cpus().length} cores, ${cpus()[0]?.model}; CPU seconds do not depend on other load on the machine; seconds do.`,
  );
  await service.end("SIGTERM");
} finally {
  await rm(folder, { recursive: true });
}
