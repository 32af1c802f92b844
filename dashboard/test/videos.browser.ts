import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { accessibilityViolations } from "./accessibility.ts";
import { drop } from "./drop.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { seedEveryState } from "./seed-videos.ts";

const dashboard = openDashboard();
const SAMPLE = join(import.meta.dirname, "../../demo/sample/sample.mp4");
const FIRST_LOAD_LIMIT_BYTES = 250 * 1024;

const row = (page: Page, name: string) => page.getByRole("listitem").filter({ hasText: name });

test("dropped videos are uploaded and transcribed without a reload of the page", async () => {
  const { page } = await dashboard.visit();
  await completeSetup(page, dashboard);
  await page.getByText("No videos yet").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.evaluate("window.notReloaded = true");

  await drop(page, [
    { name: "sample.mp4", bytes: readFileSync(SAMPLE) },
    { name: "no video.mp4", bytes: Buffer.from("This is a text.") },
  ]);
  await page.getByRole("region", { name: "Uploads" }).getByText("Uploaded").waitFor();

  // A real transcription, which is slow on a busy machine.
  await row(page, "sample.mp4").getByText("Completed").waitFor({ timeout: 100_000 });
  await row(page, "sample.mp4")
    .getByText(/English · \d+ words/)
    .waitFor();
  await row(page, "no video.mp4").getByText("Failed").waitFor();
  await row(page, "no video.mp4").getByText("Upload the original again.").waitFor();
  expect(await page.evaluate("window.notReloaded")).toBe(true);
  await page.getByRole("button", { name: "Close uploads" }).click();

  await page.getByRole("link", { name: "Failed" }).click();
  await row(page, "sample.mp4").waitFor({ state: "detached" });
  expect(await row(page, "no video.mp4").count()).toBe(1);
}, 120_000);

test("uploads that finish while AI Transcription is off are not transcribed", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "Settings" }).click();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByText("Applies to new uploads.").waitFor();
  await page.getByText("Transcribe new uploads").click();
  await page.getByText("New uploads won't be transcribed, even if").waitFor();

  await page.getByRole("link", { name: "Videos" }).click();
  await page.getByText("AI Transcription is off").waitFor();
  await drop(page, [{ name: "untranscribed.mp4", bytes: readFileSync(SAMPLE) }]);
  await row(page, "untranscribed.mp4").getByText("Not transcribed").waitFor();
});

test("a new environment shows its own videos in every state, in both themes and on a phone", async () => {
  const { page } = await dashboard.visit({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await signIn(page, dashboard, OWNER);
  await page.getByRole("button", { name: "Menu" }).click();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Environment: Production" }).click();
  await page.getByRole("menuitem", { name: "New environment" }).click();
  await page.getByLabel("Name").fill("Staging");
  await page.getByRole("button", { name: "Create environment" }).click();
  await page.getByText("No videos yet").waitFor();

  const environmentId = /environments\/(\w+)/.exec(page.url())?.[1] ?? "";
  await seedEveryState(dashboard.service, environmentId);
  // The page can receive rows inserted into the database only through the event stream.
  await row(page, "keynote.mkv").getByText("2nd in queue").waitFor();
  await row(page, "customer call").getByText("42%, about 40 s left").waitFor();
  await row(page, "b-roll").getByText("was the microphone muted?").waitFor();
  expect(await row(page, "sample.mp4").count()).toBe(0);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await accessibilityViolations(page)).toEqual([]);
  }
});

test("the selected theme persists", async () => {
  const { page } = await dashboard.visit({ colorScheme: "light" });
  await signIn(page, dashboard, OWNER);
  const background = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
  const light = await background();
  await page.getByRole("radio", { name: "Dark" }).check({ force: true });
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
  expect(await background()).toBe(dark);
});

test("the document loads at most 250 KB of compressed scripts", () => {
  const folder = inject("dashboardFolder");
  const document = readFileSync(join(folder, "index.html"), "utf8");
  const first = readdirSync(join(folder, "assets")).filter(
    (name) => name.endsWith(".js") && document.includes(name),
  );
  expect(first.length).toBeGreaterThan(0);
  const bytes = first.map((name) => gzipSync(readFileSync(join(folder, "assets", name))).length);
  expect(bytes.reduce((sum, each) => sum + each)).toBeLessThan(FIRST_LOAD_LIMIT_BYTES);
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
