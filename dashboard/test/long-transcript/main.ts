import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { printTable } from "../../../bench/src/table.ts";
import { confidenceKey, filePrefix } from "../../../server/src/storage/transcript-files.ts";
import { seedTranscript } from "../../../server/test/support/seed-transcript.ts";
import { writeRecording } from "../../../server/test/support/stored-recording.ts";
import { withDashboard } from "../measured-dashboard.ts";
import { measureTasks, type Tasks } from "./tasks.ts";
import { typeInEditor, typeInPlainElements } from "./typing.ts";

/*
 * npm run bench:transcript: traces main-thread tasks on the page of a video with 30,000 words, and measures the latency of
 * typing in its editor. Also reports CPU time of the tasks, because other programs affect wall-clock time. With
 * `--only typing`, only types.
 */

const WORDS = 30_000;
const SENTENCE = "naïve captions follow every word that people say today. ";
const MEDIA_SECONDS = 1_800;
const SCROLLS = 60;
/** Share of words with a low confidence: one in this many. */
const DOUBTFUL = 30;

await withDashboard(async ({ service, browser, environmentId, signIn }) => {
  const text = SENTENCE.repeat(Math.ceil(WORDS / 9));
  const { videoId } = await seedTranscript(service, {
    environmentId,
    language: "en",
    text,
    async store({ transcriptionId }) {
      const confidences = Array.from({ length: WORDS + 3 }, (_, index) =>
        index % DOUBTFUL === 0 ? 0.3 : 0.9,
      );
      const key = confidenceKey(filePrefix(transcriptionId, 1));
      await service.parts.transcripts.put(key, Buffer.from(JSON.stringify(confidences)));
    },
  });
  await writeRecording(service, videoId, silence(MEDIA_SECONDS));

  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  const devtools = await page.context().newCDPSession(page);
  await signIn(page);
  await page.getByRole("link", { name: "made.mp4" }).waitFor();

  const { values } = parseArgs({ options: { only: { type: "string" } } });
  const { "open the page": open, ...others } = actions(page);
  const rows: Record<string, Tasks> = { "open the page": await measureTasks(devtools, open!) };
  if (values.only !== "typing") {
    for (const [name, action] of Object.entries(others)) rows[name] = await measureTasks(devtools, action);
  }
  console.table(rows);

  const latencies = {
    "the editor": await typeInEditor(page),
    ...(await typeInPlainElements(page.context(), text.match(/(?:\S+\s+){63}/g)!)),
  };
  printTable(
    `Typing in the middle of ${WORDS.toLocaleString("en")} words: milliseconds from a keystroke to the next frame`,
    ["typed in", "p50", "p95", "longest"],
    Object.entries(latencies).map(([name, { p50, p95, max }]) => [
      name,
      ...[p50, p95, max].map((ms) => ms.toFixed(1)),
    ]),
  );
});

function actions(page: Page): Record<string, () => Promise<unknown>> {
  const text = page.locator("section[tabindex]");
  return {
    "open the page": async () => {
      await page.getByRole("link", { name: "made.mp4" }).click();
      await text.getByText("captions").first().waitFor();
      await wait(page, 1_000);
    },
    "follow 15 s of playback": async () => {
      await page.evaluate("document.querySelector('video').muted = true");
      await page.evaluate("document.querySelector('video').play()");
      await wait(page, 15_000);
    },
    "scroll through with the wheel": async () => {
      await text.hover();
      for (let turn = 0; turn < SCROLLS; turn++) {
        await page.mouse.wheel(0, 900);
        await wait(page, 50);
      }
    },
    "jump to the end and back": async () => {
      for (const top of ["1e9", "0", "1e9", "0"]) {
        await text.evaluate(`(element) => element.scrollTo(0, ${top})`);
        await wait(page, 300);
      }
    },
    "seek ten times": async () => {
      for (let count = 1; count <= 10; count++) {
        await page.evaluate(`document.querySelector('video').currentTime = ${count * 170}`);
        await wait(page, 300);
      }
    },
    "search for a word that is everywhere": async () => {
      await page.evaluate("document.querySelector('video').pause()");
      await page.keyboard.press("/");
      await page.keyboard.type("people", { delay: 60 });
      await page.getByText("1 of 2,000+").waitFor();
      for (let step = 0; step < 5; step++) await page.keyboard.press("Enter");
      await wait(page, 500);
    },
  };
}

async function wait(page: Page, ms: number): Promise<void> {
  await page.evaluate(`new Promise((resolve) => setTimeout(resolve, ${ms}))`);
}

function silence(seconds: number): Buffer {
  const source = `anullsrc=r=16000:cl=mono`;
  const options = ["-v", "error", "-f", "lavfi", "-i", source, "-t", String(seconds)];
  return execFileSync("ffmpeg", [...options, "-c:a", "libopus", "-b:a", "6k", "-f", "webm", "pipe:1"], {
    maxBuffer: 64 * 1024 * 1024,
  });
}
