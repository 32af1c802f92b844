import { execFileSync } from "node:child_process";
import type { Page } from "playwright-core";
import { printTable } from "../../../bench/src/table.ts";
import { confidenceKey, filePrefix } from "../../../server/src/storage/transcript-files.ts";
import { seedTranscript } from "../../../server/test/support/seed-transcript.ts";
import { writeRecording } from "../../../server/test/support/stored-recording.ts";
import { untilTrue } from "../long-list/frames.ts";
import { withDashboard } from "../measured-dashboard.ts";

/*
 * npm run bench:review: reviews the low-confidence words of a ten-minute video with the keyboard, at the pace of the
 * keystroke-level model (Card, Moran and Newell): 0.2 s for a key and 1.2 s for a decision. The reviewer listens until
 * playback around the word ends, confirms two of three words with Enter, and types the third again.
 */

const SECONDS = 600;
/** Seeded words take half a second each. */
const WORDS = SECONDS * 2;
const DOUBTFUL = 30;
const KEY_MS = 200;
const DECISION_MS = 1_200;
const CORRECTION = "review";

await withDashboard(async ({ service, browser, environmentId, url, signIn }) => {
  const { videoId } = await seedTranscript(service, {
    environmentId,
    language: "en",
    text: "naive captions follow every word that people say today. ".repeat(Math.ceil(WORDS / 9)),
    async store({ transcriptionId }) {
      const every = Math.floor(WORDS / DOUBTFUL);
      const confidences = Array.from({ length: Math.ceil(WORDS / 9) * 9 }, (_, index) =>
        index % every === every - 2 && index < every * DOUBTFUL ? 0.3 : 0.95,
      );
      const content = Buffer.from(JSON.stringify(confidences));
      await service.parts.transcripts.put(confidenceKey(filePrefix(transcriptionId, 1)), content);
    },
  });
  await writeRecording(service, videoId, silence(SECONDS));
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await signIn(page);
  await page.goto(`${url}/environments/${environmentId}/videos/${videoId}`);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByText(`${DOUBTFUL} low-confidence words`).waitFor();

  const spent = { listening: 0, deciding: 0, keys: 0 };
  const press = async (keys: () => Promise<void>, count = 1) => {
    await wait(page, KEY_MS * count);
    spent.keys += KEY_MS * count;
    await keys();
  };
  const start = performance.now();
  await press(() => page.keyboard.press("Alt+ArrowDown"));
  for (let word = 1; word <= DOUBTFUL; word++) {
    spent.listening += await listen(page);
    await wait(page, DECISION_MS);
    spent.deciding += DECISION_MS;
    if (word % 3 === 0) {
      await press(() => page.keyboard.type(CORRECTION), CORRECTION.length);
      if (word < DOUBTFUL) await press(() => page.keyboard.press("Alt+ArrowDown"));
    } else {
      await press(() => page.keyboard.press("Enter"));
    }
  }
  await page.getByText("No low-confidence words").waitFor();
  await page.locator("[data-state=saved]").waitFor();
  const total = performance.now() - start;
  const rows = Object.entries({ ...spent, total }).map(([name, ms]) => [
    name,
    (ms / 1000).toFixed(1),
    (ms / 1000 / DOUBTFUL).toFixed(2),
  ]);
  printTable(
    `Review of ${DOUBTFUL} low-confidence words in ${SECONDS / 60} minutes`,
    ["", "s", "s per word"],
    rows,
  );
});

/** Waits until the part around the word has been played. @returns how long it took in milliseconds */
async function listen(page: Page): Promise<number> {
  const start = performance.now();
  await untilTrue(page, "!document.querySelector('video').paused");
  await untilTrue(page, "document.querySelector('video').paused");
  return performance.now() - start;
}

async function wait(page: Page, ms: number): Promise<void> {
  await page.evaluate(`new Promise((resolve) => setTimeout(resolve, ${ms}))`);
}

function silence(seconds: number): Buffer {
  const options = ["-v", "error", "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", String(seconds)];
  return execFileSync("ffmpeg", [...options, "-c:a", "libopus", "-b:a", "6k", "-f", "webm", "pipe:1"], {
    maxBuffer: 64 * 1024 * 1024,
  });
}
