import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { median } from "../../../bench/src/statistics.ts";
import { printTable } from "../../../bench/src/table.ts";
import { seedTranscript } from "../../../server/test/support/seed-transcript.ts";
import { type MeasuredDashboard, withDashboard } from "../measured-dashboard.ts";

/*
 * npm run bench:first-load: loads pages with an empty browser cache and a CPU that is slowed down four times. Layout
 * shifts are counted until the page has been still for a second.
 */

const CPU_SLOWDOWN = 4;
const VIDEOS = 1_000;
const RUNS = 5;
const SETTLE_MS = 1_000;
const VIEWPORTS = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 360, height: 740 },
};

/** Runs in the page before its scripts. */
const OBSERVE = `
  window.measured = { firstPaintMs: 0, largestPaintMs: 0, shifts: [] };
  const each = (type, handle) =>
    new PerformanceObserver((list) => list.getEntries().forEach(handle)).observe({ type, buffered: true });
  each("paint", ({ name, startTime }) => {
    if (name === "first-contentful-paint") window.measured.firstPaintMs = startTime;
  });
  each("largest-contentful-paint", ({ startTime }) => (window.measured.largestPaintMs = startTime));
  each("layout-shift", ({ value, sources }) => {
    const nodes = sources.map(({ node }) => node?.outerHTML?.slice(0, 120) ?? String(node?.textContent));
    window.measured.shifts.push({ value, sources: nodes });
  });
`;

interface Load {
  firstPaintMs: number;
  largestPaintMs: number;
  layoutShift: number;
  scriptBytes: number;
}

await withDashboard(async (dashboard) => {
  const { service, browser, environmentId, url, signIn } = dashboard;
  const text = "Naïve captions follow every word that people say today. ".repeat(200);
  const { videoId } = await seedTranscript(service, { environmentId, language: "en", text });
  const rows = Array.from({ length: VIDEOS - 1 }, (_, index) => ({
    id: `video_many${String(index + 1).padStart(4, "0")}`,
    environment_id: environmentId,
    metadata: JSON.stringify({ filename: `Take ${index + 1}.mp4` }),
    created_at: new Date(),
  }));
  await service.parts.database.kysely.insertInto("video").values(rows).execute();

  const signedIn = await browser.newContext();
  await signIn(await signedIn.newPage());
  const storageState = await signedIn.storageState();
  await signedIn.close();

  const videos = `${url}/environments/${environmentId}/videos`;
  const pages: [string, string, boolean, (page: Page) => Promise<void>][] = [
    ["sign-in", `${url}/sign-in`, false, (page) => page.getByLabel("Password").waitFor()],
    [`${VIDEOS} videos`, videos, true, (page) => page.getByText("Take 990.mp4").waitFor()],
    ["a video", `${videos}/${videoId}`, true, (page) => page.getByText("captions").first().waitFor()],
  ];
  const table: string[][] = [];
  for (const [size, viewport] of Object.entries(VIEWPORTS)) {
    for (const [name, address, needsSession, isLoaded] of pages) {
      const options = { viewport, ...(needsSession && { storageState }) };
      const loads: Load[] = [];
      for (let run = 0; run < RUNS; run++) loads.push(await load(dashboard, options, address, isLoaded));
      table.push([
        `${name}, ${size}`,
        median(loads.map(({ firstPaintMs }) => firstPaintMs)).toFixed(0),
        median(loads.map(({ largestPaintMs }) => largestPaintMs)).toFixed(0),
        Math.max(...loads.map(({ layoutShift }) => layoutShift)).toFixed(4),
        (loads[0]!.scriptBytes / 1000).toFixed(1),
      ]);
    }
  }
  printTable(
    `First load with a CPU slowed down ${CPU_SLOWDOWN} times, medians of ${RUNS}`,
    ["", "FCP, ms", "LCP, ms", "CLS (worst)", "JavaScript, kB gzip"],
    table,
  );
});

async function load(
  { browser, folder }: MeasuredDashboard,
  options: BrowserContextOptions,
  address: string,
  isLoaded: (page: Page) => Promise<void>,
): Promise<Load> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: CPU_SLOWDOWN });
  const scripts = new Set<string>();
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.endsWith(".js")) scripts.add(pathname);
  });
  await page.addInitScript(OBSERVE);
  await page.goto(address);
  await isLoaded(page);
  await page.waitForTimeout(SETTLE_MS);
  const { shifts, ...paints } = (await page.evaluate("window.measured")) as Measured;
  if (process.env.SHOW_SHIFTS && shifts.length > 0) console.log(address, shifts);
  await context.close();
  const scriptBytes = [...scripts].reduce(
    (sum, path) => sum + readFileSync(join(folder, `${path}.gz`)).length,
    0,
  );
  return { ...paints, layoutShift: shifts.reduce((sum, { value }) => sum + value, 0), scriptBytes };
}

interface Measured {
  firstPaintMs: number;
  largestPaintMs: number;
  shifts: { value: number; sources: string[] }[];
}
