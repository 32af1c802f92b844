import type { Page } from "playwright-core";
import { median } from "../../../bench/src/statistics.ts";
import { printTable } from "../../../bench/src/table.ts";
import { seededVideoId, seedManyVideos } from "../../../server/test/support/seed-many-videos.ts";
import { type MeasuredDashboard, withDashboard } from "../measured-dashboard.ts";
import { describeFrames, frameIntervals, mainThreadTime, untilTrue } from "./frames.ts";

/*
 * npm run bench:list: scrolls a list of 100,000 videos in Chromium, and measures how long its orders, filters and text
 * search take. The database is DATABASE_URL, or the embedded one. VIDEOS changes the number of videos.
 */

const VIDEOS = Number(process.env.VIDEOS ?? 100_000);
const VIEWPORT = { width: 1280, height: 800 };
const RUNS = 3;
const IDLE_MS = 3_000;
const WHEEL_TURNS = 100;
const WHEEL_PX = 400;
const DRAG_STEPS = 120;
const STATIC_ROWS = 600;
/** Below the arrow button of the scroll bar. */
const THUMB_Y = 22;

/** The finished request for the first page of the changed view. The page also refetches the view before the change. */
const LIST_REQUEST = `performance.getEntriesByType("resource").find(
  ({ name, responseEnd }) => responseEnd > 0 && /\\/videos\\?(.*&)?(text|state|sort)=/.test(name))`;
const SHOWN = `${LIST_REQUEST} !== undefined && document.querySelector("main table[aria-hidden]") === null`;

const { DATABASE_URL } = process.env;
// Playwright hides scroll bars by default.
await withDashboard(
  measure,
  { ...(DATABASE_URL && { DATABASE_URL }) },
  { ignoreDefaultArgs: ["--hide-scrollbars"] },
);

async function measure(dashboard: MeasuredDashboard): Promise<void> {
  const { service, browser, environmentId, url, signIn } = dashboard;
  const { database } = service.parts;
  const seedingStart = performance.now();
  await seedManyVideos(database.kysely, environmentId, VIDEOS);
  console.log(`seeded ${VIDEOS} videos in ${seconds(seedingStart)} s (${database.kind} database)`);
  const page = await (await browser.newContext({ viewport: VIEWPORT })).newPage();
  await signIn(page);
  const list = `${url}/environments/${environmentId}/videos`;
  await open(page, list);
  if (process.env.ONLY !== "views") await measureScrolling(page, list);
  if (process.env.ONLY !== "scrolling") await measureViews(page, list);
}

async function measureScrolling(page: Page, list: string): Promise<void> {
  const mainThread = await mainThreadTime(page);
  const measured: Record<string, { intervals: number[]; mainThreadMs: number }> = {};
  const record = async (name: string, action: () => Promise<unknown>) => {
    const before = await mainThread();
    const intervals = await frameIntervals(page, action);
    measured[name] = { intervals, mainThreadMs: (await mainThread()) - before };
    return intervals;
  };
  const idleMs = median(await record("idle page", () => wait(page, IDLE_MS)));
  await record("wheel, pages are loading", () => turnWheel(page));
  const loadingStart = performance.now();
  await loadAll(page);
  console.log(`loaded all pages in ${seconds(loadingStart)} s`);
  await record("wheel", () => turnWheel(page));
  await record("scroll bar", () => dragScrollBar(page));
  await openStaticList(page, list);
  await record("wheel, static list", () => turnWheel(page));
  await record("scroll bar, static list", () => dragScrollBar(page));
  printTable(
    `Scrolling a list of ${VIDEOS.toLocaleString("en")} videos`,
    ["", "frames", "p50, ms", "p95, ms", "longest, ms", "late frames", "frames lost", "main thread, CPU ms"],
    Object.entries(measured).map(([name, { intervals, mainThreadMs }]) => [
      name,
      ...describeFrames(intervals, idleMs),
      mainThreadMs.toFixed(0),
    ]),
  );
}

async function turnWheel(page: Page): Promise<void> {
  await scrollToTop(page);
  await page.mouse.move(VIEWPORT.width / 2, VIEWPORT.height / 2);
  for (let turn = 0; turn < WHEEL_TURNS; turn++) {
    await page.mouse.wheel(0, WHEEL_PX);
    await wait(page, 30);
  }
}

async function dragScrollBar(page: Page): Promise<void> {
  await scrollToTop(page);
  const x = VIEWPORT.width - 7;
  await page.mouse.move(x, THUMB_Y);
  await page.mouse.down();
  for (let step = 1; step <= DRAG_STEPS; step++) {
    await page.mouse.move(x, THUMB_Y + (step / DRAG_STEPS) * (VIEWPORT.height - 60));
    await wait(page, 16);
  }
  const position = await page.evaluate<number>(
    "scrollY / (document.documentElement.scrollHeight - innerHeight)",
  );
  await page.mouse.up();
  if (position < 0.5) throw new Error(`the scroll bar was not dragged: ${position}`);
}

async function loadAll(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const isComplete = () => document.querySelector("table").ariaRowCount !== "-1";
    const timer = setInterval(() => {
      scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
      if (!isComplete()) return;
      clearInterval(timer);
      resolve();
    }, 10);
  })`);
}

/** Replaces the page by its markup without scripts, with all rows in the flow of the document. */
async function openStaticList(page: Page, list: string): Promise<void> {
  await scrollToTop(page);
  await wait(page, 500);
  const markup = await page.evaluate<string>(`{
    const copy = document.documentElement.cloneNode(true);
    for (const script of copy.querySelectorAll("script, link[rel=modulepreload]")) script.remove();
    const body = copy.querySelector("tbody");
    const rows = [...body.querySelectorAll("tr")];
    for (let count = rows.length; count < ${STATIC_ROWS}; count++) body.append(rows[count % rows.length].cloneNode(true));
    for (const row of body.querySelectorAll("tr")) row.style.cssText = "position: static";
    body.style.height = "auto";
    copy.outerHTML;
  }`);
  await page.route(`${list}?static`, (route) =>
    route.fulfill({ contentType: "text/html", body: `<!doctype html>${markup}` }),
  );
  await page.goto(`${list}?static`);
  await wait(page, 1_000);
}

async function measureViews(page: Page, list: string): Promise<void> {
  const column = (name: string) => async () => {
    await page.getByRole("columnheader", { name }).getByRole("link").click();
  };
  const state = (name: string) => async () => {
    await page.getByRole("navigation", { name: "Filter videos" }).getByRole("link", { name }).click();
  };
  const search = (text: (run: number) => string) => async (run: number) => {
    await page.getByRole("searchbox").fill(text(run));
  };
  const number = (run: number) => Math.floor(VIDEOS / 3) + 101 * run;
  const views: Record<string, (run: number) => Promise<void>> = {
    "sort by name": column("Name"),
    "sort by duration": column("Duration"),
    "sort by words": column("Words"),
    "failed videos": state("Failed"),
    "skipped videos": state("Skipped"),
    "search: one name": search((run) => ` ${number(run)}.mp4`),
    "search: many names": search((run) => ["interview", "planning", "retrospective"][run]!),
    "search: id": search((run) => seededVideoId(number(run))),
    "search: metadata value": search((run) => `customer ${1_000 + run}`),
    "search: nothing": search((run) => `no such video ${run}`),
  };
  const rows: string[][] = [];
  for (const [name, change] of Object.entries(views)) {
    const shown: number[] = [];
    const served: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      await open(page, list);
      await page.evaluate("performance.clearResourceTimings()");
      const start = performance.now();
      await change(run);
      await untilTrue(page, SHOWN);
      shown.push(performance.now() - start);
      served.push(await page.evaluate<number>(`${LIST_REQUEST}.duration`));
    }
    rows.push([name, median(shown).toFixed(0), median(served).toFixed(0), Math.max(...served).toFixed(0)]);
  }
  printTable(
    `Views of ${VIDEOS.toLocaleString("en")} videos, medians of ${RUNS}`,
    ["", "shown after, ms", "request, ms", "longest request, ms"],
    rows,
  );
}

async function open(page: Page, list: string): Promise<void> {
  await page.goto(list);
  await page.locator("a[data-video]").first().waitFor();
}

async function wait(page: Page, ms: number): Promise<void> {
  await page.evaluate(`new Promise((resolve) => setTimeout(resolve, ${ms}))`);
}

function seconds(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(0);
}

async function scrollToTop(page: Page): Promise<void> {
  await page.evaluate(`scrollTo({ top: 0, behavior: "instant" })`);
  await wait(page, 300);
}
