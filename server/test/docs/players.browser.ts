import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, extname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startChromium } from "../../../captions/test/chromium.ts";
import { blocksRunBy } from "../../../test/support/documented-blocks.ts";
import {
  createTenant,
  shareService,
  type Tenant,
  temporaryFolder,
  untilEnded,
  upload,
} from "../support/service.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SAMPLE = join(ROOT, "demo/sample/sample.mp4");
const TYPES: Record<string, string> = {
  ".vtt": "text/vtt",
  ".json": "application/json",
  ".mp4": "video/mp4",
  ".js": "text/javascript",
  ".css": "text/css",
  ".m3u8": "application/vnd.apple.mpegurl",
  ".ts": "video/mp2t",
};
const PLAYERS = [
  "video.js/dist/video.min.js",
  "video.js/dist/video-js.min.css",
  "hls.js/dist/hls.min.js",
  "tus-js-client/dist/tus.min.js",
];

const blocks = blocksRunBy(import.meta.filename);
const service = shareService();
let browser: Browser;
let tenant: Tenant;
/** Files of a customer's site: a transcription's files, the recording, and the players. */
const files = new Map<string, Buffer>();

beforeAll(async () => {
  browser = await startChromium();
  tenant = await createTenant(service);
  const sample = await readFile(SAMPLE);
  const videoId = await upload(service, tenant, sample);
  const { files: made } = await untilEnded(service, tenant, videoId);
  for (const kind of ["vtt", "json"] as const) {
    files.set(`/captions/42.${kind}`, Buffer.from(await (await fetch(made![kind].url)).arrayBuffer()));
  }
  files.set("/videos/42.mp4", sample);
  for (const path of PLAYERS)
    files.set(`/${basename(path)}`, await readFile(join(ROOT, "node_modules", path)));
});
afterAll(() => browser.close());

/** Serves the page on a customer's site, whose `POST /videos` creates an upload, and opens it. */
async function openPage(html: string): Promise<Page> {
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/";
    if (request.method === "POST") {
      const headers = { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" };
      const body = await buffer(request);
      const answer = await fetch(`${service.url}/api/v1/videos`, { method: "POST", headers, body });
      return response.end(await answer.text());
    }
    const file = path === "/" ? Buffer.from(`<!doctype html><title>Player</title>${html}`) : files.get(path);
    response.setHeader("content-type", TYPES[extname(path)] ?? "text/html; charset=utf-8");
    response.setHeader("accept-ranges", "bytes");
    // Browsers seek with range requests.
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    if (!file || !range) return response.writeHead(file ? 200 : 404).end(file);
    const start = Number(range[1]);
    const part = file.subarray(start, range[2] ? Number(range[2]) + 1 : undefined);
    const contentRange = `bytes ${start}-${start + part.length - 1}/${file.length}`;
    return response.writeHead(206, { "content-range": contentRange }).end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  onTestFinished(async () => {
    await page.close();
    server.close();
    server.closeAllConnections();
    expect(errors).toEqual([]);
  });
  await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
  return page;
}

function blockWith(text: string): string {
  const found = blocks.filter((block) => block.text.includes(text));
  expect([text, found.length]).toEqual([text, 1]);
  return found[0]!.text;
}

/** Waits until the cues of the page's video are loaded. */
async function readCues(page: Page): Promise<string[]> {
  const tracks = "[...(document.querySelector('video').textTracks ?? [])]";
  await page.waitForFunction(`${tracks}.some(({ cues }) => cues?.length > 0)`);
  return await page.evaluate<string[]>(
    `${tracks}.flatMap(({ cues }) => [...(cues ?? [])].map(({ text }) => text))`,
  );
}

function countCuesInFile(): number {
  return [...(files.get("/captions/42.vtt")?.toString() ?? "").matchAll(/ --> /g)].length;
}

test("each page of the documentation has a test here", () => {
  expect(blocks.map(({ page }) => page)).toEqual([...Array(4).fill("docs/players.md"), "docs/uploading.md"]);
});

test("a plain <track> shows the captions of a transcription", async () => {
  const page = await openPage(blocks[0]!.text);
  expect(await readCues(page)).toHaveLength(countCuesInFile());
  await page.waitForFunction("document.querySelector('video').readyState >= 1");
  await page.evaluate(
    "document.querySelector('video').currentTime = document.querySelector('video').textTracks[0].cues[0].startTime + 0.1",
  );
  await page.waitForFunction("document.querySelector('video').textTracks[0].activeCues.length > 0");
});

test("video.js shows them over the picture", async () => {
  const page = await openPage(blockWith("videojs("));
  await page.waitForFunction(
    "Array.from(videojs('player').textTracks()).some(({ cues }) => cues?.length > 0)",
  );
  const first = await page.evaluate<{ startTime: number; text: string; count: number }>(
    "(() => { const [track] = Array.from(videojs('player').textTracks()).filter(({ kind }) => kind === 'captions'); const { startTime, text } = track.cues[0]; track.mode = 'showing'; return { startTime, text, count: track.cues.length }; })()",
  );
  expect(first.count).toBe(countCuesInFile());
  await page.waitForFunction("videojs('player').readyState() >= 1");
  await page.evaluate(`videojs('player').currentTime(${first.startTime + 0.1})`);
  await page.waitForFunction(
    `document.querySelector('.vjs-text-track-display').innerText.includes(${JSON.stringify(first.text.split("\n")[0])})`,
  );
});

test("hls.js plays a stream with captions", async () => {
  const folder = await temporaryFolder();
  execFileSync("ffmpeg", [
    "-v",
    "error",
    "-i",
    SAMPLE,
    "-c",
    "copy",
    "-hls_time",
    "4",
    "-hls_list_size",
    "0",
    join(folder, "main.m3u8"),
  ]);
  for (const name of (await readFile(join(folder, "main.m3u8"), "utf8")).match(/^[^#\n].*$/gm) ?? []) {
    files.set(`/videos/42/${name}`, await readFile(join(folder, name)));
  }
  files.set("/videos/42/main.m3u8", await readFile(join(folder, "main.m3u8")));
  const page = await openPage(blockWith("new Hls()"));
  expect(await readCues(page)).toHaveLength(countCuesInFile());
  await page.waitForFunction("document.querySelector('video').readyState >= 2");
  await page.evaluate(
    "document.querySelector('video').currentTime = document.querySelector('video').textTracks[0].cues[0].startTime + 0.1",
  );
  await page.waitForFunction("document.querySelector('video').textTracks[0].activeCues.length > 0");
});

test("a transcript beside the video highlights the current word", async () => {
  const page = await openPage(blockWith("data-now"));
  const words = JSON.parse(files.get("/captions/42.json")?.toString() ?? "") as {
    word: string;
    start: number;
  }[];
  const said = words[5]!;
  await page.getByText(said.word, { exact: false }).first().waitFor();
  await page.waitForFunction("document.querySelector('video').readyState >= 1");
  await page.evaluate(`document.querySelector('video').currentTime = ${said.start + 0.001}`);
  await page.locator("[data-now]").filter({ hasText: said.word }).waitFor();
  expect(await page.locator("[data-now]").count()).toBe(1);
});

test("a page uploads with a URL that its server requested, and without a key", async () => {
  const page = await openPage(blockWith("tus.Upload"));
  await page.locator("#file").setInputFiles(SAMPLE);
  await page.getByText("is uploaded; its captions are on their way").waitFor();
  const [id = ""] = /video_\w+/.exec(await page.locator("#state").innerText()) ?? [];
  const answer = await fetch(`${service.url}/api/v1/videos/${id}`, {
    headers: { authorization: `Bearer ${tenant.key}` },
  });
  expect(await answer.json()).toMatchObject({ id, status: "uploaded", filename: "sample.mp4" });
});
