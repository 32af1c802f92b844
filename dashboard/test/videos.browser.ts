import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Locator, Page } from "playwright-core";
import { expect, inject, test } from "vitest";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { newId } from "../../server/src/lib/ids.ts";
import { insertVideo } from "../../server/src/videos/queries.ts";
import { seedTranscript } from "../../server/test/support/seed-transcript.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { drop } from "./drop.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { seedEveryState } from "./seed-videos.ts";

const dashboard = openDashboard();
const SAMPLE = join(import.meta.dirname, "../../demo/sample/sample.mp4");
/** Of compressed scripts. */
const FIRST_LOAD_LIMIT_BYTES = 200_000;

/** A frame is made with low priority, which is slow on a busy machine. */
const SLOW = { timeout: 100_000 };

const deps = () => ({ db: dashboard.service.parts.database.kysely, clock: dashboard.service.parts.clock });
const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

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
  await row(page, "sample.mp4").getByText("English").waitFor();
  await row(page, "no video.mp4").getByText("Failed").waitFor();
  await row(page, "no video.mp4").getByText("Upload the original again.").waitFor();

  const frame = row(page, "sample.mp4").locator("img");
  await expect
    .poll(() => frame.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth), SLOW)
    .toBe(320);
  const size = async (of: Locator) => {
    const { width, height } = (await of.boundingBox())!;
    return { width, height };
  };
  // Otherwise rows would shift when their frames load.
  expect(await size(frame)).toEqual(await size(row(page, "no video.mp4").locator("td:nth-child(2) div")));
  expect(await page.evaluate("window.notReloaded")).toBe(true);
  await page.getByRole("button", { name: "Close uploads" }).click();
  await frame.click();
  await page.locator("video[poster$='/poster']").waitFor();
  await page.goBack();

  await page.getByRole("link", { name: "Failed" }).click();
  await row(page, "sample.mp4").waitFor({ state: "detached" });
  await row(page, "no video.mp4").waitFor();
}, 240_000);

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
  const { page } = await dashboard.visit({ viewport: { width: 360, height: 740 }, hasTouch: true });
  await signIn(page, dashboard, OWNER);
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("dialog").getByRole("navigation", { name: "Pages" }).waitFor();
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
  const cut = await page.evaluate(`[...document.querySelectorAll("a[data-video]")]
    .filter(({ parentElement }) => parentElement.scrollWidth > parentElement.clientWidth)
    .map(({ textContent }) => textContent)`);
  expect(cut).toEqual([]);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await accessibilityViolations(page)).toEqual([]);
  }
});

test("the address holds the order and the filters; a search by name, metadata or language finds one video", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  const { id } = await createEnvironment(deps(), { name: "Filtered", aiTranscription: true });
  await seedEveryState(dashboard.service, id);
  await page.goto(`${dashboard.url}/environments/${id}/videos`);
  const names = () => page.locator("a[data-video]").allTextContents();
  await row(page, "phone-recording").waitFor();

  await page.getByRole("link", { name: "Name" }).click();
  await page.getByRole("columnheader", { name: "Name" }).and(page.locator("[aria-sort=ascending]")).waitFor();
  await expect.poll(async () => (await names())[0]).toBe("all-hands-2026-03.mp4");
  await page.getByRole("link", { name: "Words" }).click();
  await expect.poll(async () => (await names())[0]).toBe("all-hands-2026-03.mp4");
  await page.getByRole("link", { name: "Words" }).click();
  await expect.poll(async () => (await names())[0]).toBe("entrevista con la directora.mov");
  expect(page.url()).toContain("?sort=words&order=asc");

  await page.getByText("Filters and sorting").click();
  // While the year is typed, its first digits are a year such as 0002.
  await page.getByLabel("Uploaded on or after").pressSequentially("01012099");
  await page.getByText("No matching videos").waitFor();
  expect(page.url()).toContain("from=2099-01-01");
  await page.getByLabel("Uploaded on or after").press("2");
  await page.getByLabel("Failure").focus();
  await expect.poll(() => page.getByLabel("Uploaded on or after").inputValue()).toBe("2099-01-01");
  await page.getByLabel("Uploaded on or after").fill("");
  await row(page, "phone-recording").waitFor();
  await page.getByLabel("Failure").selectOption("This isn't a valid media file.");
  await expect.poll(names).toEqual(["notes.pdf.mp4"]);
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByLabel("Failure").selectOption("All videos");
  await page.getByLabel("Language").selectOption("Spanish");
  await expect.poll(names).toEqual(["entrevista con la directora.mov"]);
  await page.reload();
  await expect.poll(names).toEqual(["entrevista con la directora.mov"]);
  await page.getByLabel("Find videos").fill("keynote");
  await page.getByText("No matching videos").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("link", { name: "Clear filters" }).click();
  await row(page, "phone-recording").waitFor();
  expect(await page.getByLabel("Find videos").inputValue()).toBe("");
  await page.getByLabel("Find videos").fill("keynote");
  await expect.poll(names).toEqual(["keynote.mkv"]);
  // A change to a video that matches, in a view whose order only the server knows.
  await insertVideo(deps().db, {
    id: newId("video"),
    environmentId: id,
    metadata: { filename: "keynote 2.mkv" },
    sizeBytes: 1,
    now: new Date(),
  });
  await expect.poll(names, { timeout: 30_000 }).toEqual(["keynote 2.mkv", "keynote.mkv"]);

  await page.goto(`${dashboard.url}/environments/${id}/videos?state=lost&to=2026-13-01&q=keynote`);
  await expect.poll(names).toEqual(["keynote 2.mkv", "keynote.mkv"]);
  expect(new URL(page.url()).search).toBe("?q=keynote");
}, 120_000);

test("of hundreds of videos only those in view are rendered, and the keyboard reaches all of them", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  const { id } = await createEnvironment(deps(), { name: "Many", aiTranscription: true });
  const now = new Date();
  const videos = Array.from({ length: 250 }, (_, index) => ({
    id: `video_many${String(index + 1).padStart(4, "0")}`,
    environment_id: id,
    metadata: JSON.stringify({ filename: `Take ${index + 1}` }),
    created_at: now,
  }));
  await deps().db.insertInto("video").values(videos).execute();
  await page.goto(`${dashboard.url}/environments/${id}/videos`);
  await row(page, "Take 250").waitFor();
  expect(await page.getByRole("row").count()).toBeLessThan(60);
  const focused = () => page.evaluate("document.activeElement?.textContent");
  await page.getByRole("link", { name: "Take 250" }).focus();
  await page.keyboard.press("ArrowDown");
  await expect.poll(focused).toBe("Take 249");
  await page.keyboard.press("k");
  await expect.poll(focused).toBe("Take 250");
  // Each press moves to the last video that is loaded; the next ones load when it comes into view.
  await expect
    .poll(
      async () => {
        await page.keyboard.press("End");
        return await focused();
      },
      { timeout: 30_000 },
    )
    .toBe("Take 1");
  expect(await page.getByRole("row").count()).toBeLessThan(60);
  await page.getByRole("table", { name: "Videos" }).and(page.locator("[aria-rowcount='251']")).waitFor();
  // The focused row stays while it is out of view.
  await page.evaluate("scrollTo(0, 0)");
  await row(page, "Take 250").waitFor();
  expect(await focused()).toBe("Take 1");
  // After the jump, rows below the view are rendered as well, so that a turn of the wheel finds them there.
  const below = `[...document.querySelectorAll("tbody tr")].filter((row) => row.getBoundingClientRect().top > innerHeight).length`;
  await expect.poll(() => page.evaluate<number>(below)).toBeGreaterThan(6);
  // While the scroll bar is dragged, no row but the focused one has content; when it rests, all have.
  const links = `document.querySelectorAll("tbody a[data-video]").length`;
  const drag = `(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let step = 1; step <= 100; step++) {
      scrollTo(0, (step % 4) * 3_000);
      await frame();
      await frame();
      // On a busy machine, a pause between two frames can look like rest.
      if (step > 2 && ${links} === 1) return true;
    }
    return false;
  })()`;
  expect(await page.evaluate<boolean>(drag)).toBe(true);
  await expect.poll(() => page.evaluate<number>(links)).toBeGreaterThan(8);
  await page.keyboard.press("Home");
  await expect.poll(focused).toBe("Take 250");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Take 250" }).waitFor();
}, 120_000);

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

test("sign-in, the videos and a video each load at most 200 kB of compressed scripts, without layout shifts", async () => {
  const { service, url } = dashboard;
  const { id } = await createEnvironment(deps(), { name: "First load", aiTranscription: true });
  const text = "Naive captions follow every word that people say today.";
  const { videoId } = await seedTranscript(service, { environmentId: id, language: "en", text });
  const { page } = await dashboard.visit();
  await page.addInitScript(`
    window.shifts = [];
    new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value }) => value)))
      .observe({ type: "layout-shift", buffered: true });`);
  const scripts = new Set<string>();
  page.on("response", (response) => scripts.add(new URL(response.url()).pathname));
  const expectSmall = async (path: string, ready: Locator) => {
    scripts.clear();
    await page.goto(`${url}${path}`);
    await ready.waitFor();
    const names = [...scripts].filter((name) => name.endsWith(".js"));
    expect(names.length).toBeGreaterThan(0);
    const bytes = names.map(
      (name) => gzipSync(readFileSync(join(inject("dashboardFolder"), name)), { level: 9 }).length,
    );
    expect(bytes.reduce((sum, each) => sum + each)).toBeLessThan(FIRST_LOAD_LIMIT_BYTES);
    expect(await page.evaluate("window.shifts")).toEqual([]);
  };
  await expectSmall("/sign-in", page.getByLabel("Password"));
  await signIn(page, dashboard, OWNER);
  await expectSmall(`/environments/${id}/videos`, page.getByText("All 1", { exact: true }));
  await expectSmall(`/environments/${id}/videos/${videoId}`, page.getByText("captions").first());
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
