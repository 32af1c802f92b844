import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { seedTranscript } from "../../server/test/support/seed-transcript.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { seedEveryState } from "./seed-videos.ts";
import { beginUpload, clickWord, downloadWords, sampleHighlights, untilTrue } from "./video-page.ts";

const dashboard = openDashboard();
const SAMPLE = readFileSync(join(import.meta.dirname, "../../demo/sample/sample.mp4"));
/** From a word's time to its highlight, by the player's clock. */
const MAX_DELAY_SECONDS = 0.15;

let environmentId = "";
let sampleUrl = "";
const pageUrl = (videoId: string) => `${dashboard.url}/environments/${environmentId}/videos/${videoId}`;
const transcript = (page: Page) => page.locator("section[tabindex]");
const playerSeconds = (page: Page) =>
  page.evaluate("document.querySelector('video').currentTime") as Promise<number>;

async function untilSeekedTo(page: Page, seconds: number): Promise<void> {
  await untilTrue(
    page,
    `Math.abs(document.querySelector("video").currentTime - ${seconds}) < 1 && !document.querySelector("video").seeking`,
  );
}

test("a page opened during the upload shows the transcript without a reload", async () => {
  const { page } = await dashboard.visit();
  await completeSetup(page, dashboard);
  environmentId = /environments\/(\w+)/.exec(page.url())?.[1] ?? "";
  const { videoId, send } = await beginUpload(dashboard, {
    environmentId,
    filename: "sample.mp4",
    bytes: SAMPLE,
  });
  sampleUrl = pageUrl(videoId);
  await page.getByRole("link", { name: "sample.mp4" }).click();
  await page.getByRole("heading", { name: "Uploading, 0%" }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.evaluate("window.notReloaded = true");
  await send();

  // A real transcription, which is slow on a busy machine.
  await transcript(page).getByText("Welcome").waitFor({ timeout: 100_000 });
  await page.getByRole("slider", { name: "Position in the recording" }).waitFor();
  await page.getByText(/^Speech \d+%$/).waitFor();
  for (const text of ["Language", "English", "Engine", "Decoded", "Transcribed", "1. Completed"]) {
    await page.getByText(text, { exact: true }).first().waitFor();
  }
  expect(await page.evaluate("window.notReloaded")).toBe(true);
}, 120_000);

test("words are highlighted in step with playback, and the browser shows the captions", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.goto(`${sampleUrl}?t=7.5`);
  await transcript(page).getByText("Welcome").waitFor();
  // The browser may already be playing.
  await untilTrue(page, `document.querySelector("video").currentTime >= 7.5`);
  await untilTrue(page, `document.querySelector("video").textTracks[0].activeCues?.length > 0`);
  const { kind, mode, language, cue } = (await page.evaluate(`(() => {
    const [track] = document.querySelector("video").textTracks;
    return { kind: track.kind, mode: track.mode, language: track.language, cue: track.activeCues[0].text };
  })()`)) as Record<string, string>;
  expect([kind, mode, language]).toEqual(["captions", "showing", "en"]);
  expect(cue).toMatch(/transcript|anyway|asked/);

  const words = await downloadWords(page);
  const samples = await sampleHighlights(page, 6_000);
  const wrong = samples.filter(({ seconds, text }) => {
    if (text === "") {
      return words.some(({ start, end }) => start <= seconds - MAX_DELAY_SECONDS && end >= seconds);
    }
    const near = words.filter(
      ({ start, end }) => start <= seconds + MAX_DELAY_SECONDS && end >= seconds - MAX_DELAY_SECONDS,
    );
    return !near.some(({ word }) => word === text);
  });
  expect(wrong).toEqual([]);
  expect(new Set(samples.map(({ text }) => text)).size).toBeGreaterThan(6);
}, 60_000);

test("clicking a word, pressing Enter on it, and the waveform's keys seek", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.goto(sampleUrl);
  await transcript(page).getByText("Welcome").waitFor();
  const words = await downloadWords(page);
  const startOf = (wanted: string) => words.find(({ word }) => word.startsWith(wanted))!.start;
  await clickWord(page, "captions");
  await untilSeekedTo(page, startOf("captions"));
  await page.evaluate("document.querySelector('video').pause()");

  await transcript(page).focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await untilSeekedTo(page, words[1]!.start);
  await page.keyboard.press("k");
  await untilTrue(page, "document.querySelector('video').paused");

  const slider = page.getByRole("slider", { name: "Position in the recording" });
  await slider.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  const duration = words.at(-1)!.end;
  expect(await playerSeconds(page)).toBeGreaterThan(duration - 10);
  expect(await slider.getAttribute("aria-valuetext")).toMatch(/^\d+ seconds of 43 seconds$/);
  await page.keyboard.press("j");
  await untilSeekedTo(page, await playerSeconds(page));
});

test("the transcript is searched, copied and downloaded", async () => {
  const { page, context } = await dashboard.visit();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: dashboard.url });
  await signIn(page, dashboard, OWNER);
  await page.goto(sampleUrl);
  await transcript(page).getByText("Welcome").waitFor();

  await page.keyboard.press("/");
  await page.keyboard.insertText("VIDÉO");
  await page.getByText("1 of 3", { exact: true }).waitFor();
  // Enter confirms what an input method composes.
  await page.evaluate(
    `document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true }),
    )`,
  );
  await page.keyboard.press("Enter");
  await page.getByText("2 of 3", { exact: true }).waitFor();
  expect(await page.evaluate("[...CSS.highlights.get('subtext-current-match')].map(String)")).toEqual([
    "video",
  ]);
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");

  await page.keyboard.press("c");
  await page.getByText("Transcript copied").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^Welcome.*day\S$/s);
  await transcript(page).locator("p").first().click({ clickCount: 3 });
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("menuitem", { name: "Selection with timestamp" }).click();
  await page.getByText("Selection copied").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^\[0:00–0:\d\d\] Welcome/);

  for (const [name, extension, begin] of [
    ["Captions (VTT)", "vtt", "WEBVTT"],
    ["Text (TXT)", "txt", "Welcome"],
    ["Word timings (JSON)", "json", "["],
  ] as const) {
    await page.getByRole("button", { name: "Download" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`sample.en.${extension}`);
    expect(readFileSync(await download.path(), "utf8").startsWith(begin)).toBe(true);
  }
});

test("the transcript works if the browser cannot play the recording", async () => {
  const folder = mkdtempSync(join(tmpdir(), "subtext-unplayable-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const sample = join(folder, "sample.mp4");
  writeFileSync(sample, SAMPLE);
  const remux = (name: string, ...options: string[]): Buffer => {
    execFileSync("ffmpeg", ["-v", "error", "-i", sample, ...options, join(folder, name)]);
    return readFileSync(join(folder, name));
  };
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  for (const [filename, bytes, word] of [
    // Chromium mistakes it for an MP3 and plays noise.
    ["broadcast.ts", remux("sample.ts", "-c", "copy"), "captions"],
    ["camera.avi", remux("sample.avi", "-t", "8", "-c:v", "copy", "-c:a", "pcm_s16le"), "uploaded"],
  ] as const) {
    const { videoId, send } = await beginUpload(dashboard, { environmentId, filename, bytes });
    await send();
    await page.goto(pageUrl(videoId));
    await page.getByText("Your browser can't play this format.").waitFor();
    await transcript(page).getByText("Welcome").waitFor({ timeout: 100_000 });
    await clickWord(page, word);
    await untilTrue(page, `String([...(CSS.highlights.get("subtext-active") ?? [])]) === "${word}"`);
  }
  expect(await accessibilityViolations(page)).toEqual([]);
}, 240_000);

test("a failed video shows the reason, and completes when it is retried after the cause is fixed", async () => {
  const broken = Buffer.from(SAMPLE);
  broken.fill(0, 0, 4096);
  const { videoId, send } = await beginUpload(dashboard, {
    environmentId,
    filename: "broken.mp4",
    bytes: broken,
  });
  await send();
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.goto(pageUrl(videoId));
  await page.getByRole("heading", { name: "Transcription failed" }).waitFor();
  await page.getByText("Upload the original again.").first().waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);

  writeFileSync(join(dashboard.service.parts.config.dataFolder, "uploads", videoId), SAMPLE);
  await page.getByRole("button", { name: "Retry transcription" }).click();
  await transcript(page).getByText("Welcome").waitFor({ timeout: 100_000 });
  await page.getByText("1. Failed").waitFor();
  await page.getByText("2. Completed").waitFor();
  expect(await page.getByRole("button", { name: "Retry transcription" }).count()).toBe(0);
}, 120_000);

test("every state has its page, in both themes and on a phone", async () => {
  await seedEveryState(dashboard.service, environmentId);
  const { page } = await dashboard.visit({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await signIn(page, dashboard, OWNER);
  for (const [name, shown] of [
    ["keynote.mkv", "2nd in queue"],
    ["customer call, Tuesday.mp4", "Transcribing, 42%"],
    ["notes.pdf.mp4", "Transcription failed"],
    ["b-roll harbour.mp4", "Not transcribed"],
    ["before the switch.mp4", "Not transcribed"],
    ["phone-recording.mp4", "Uploading, 0%"],
  ] as const) {
    await page.goto(`${dashboard.url}/environments/${environmentId}/videos`);
    await page.getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { name: shown }).waitFor();
    expect(await accessibilityViolations(page), name).toEqual([]);
  }
  await page.goto(sampleUrl);
  await transcript(page).getByText("Welcome").waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await accessibilityViolations(page)).toEqual([]);
  }
  await page.getByRole("button", { name: "Details" }).click();
  await page.getByRole("heading", { name: "About" }).waitFor();
  await transcript(page).waitFor({ state: "hidden" });
}, 120_000);

test("30,000 words are in the document, can be searched and scrolled to", async () => {
  const sentence = "naïve captions follow every word that people say today. ";
  const text = sentence.repeat(30_000 / 9).trim();
  const { videoId } = await seedTranscript(dashboard.service, { environmentId, language: "en", text });
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.evaluate(`{
    window.longTasks = [];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longTasks.push(Math.round(duration));
    }).observe({ type: "longtask", buffered: true });
  }`);
  await page.goto(pageUrl(videoId));
  await transcript(page).getByText("captions").first().waitFor();
  expect((await transcript(page).textContent())?.split(/\s+/).length).toBeGreaterThan(29_000);
  await page.keyboard.press("/");
  await page.keyboard.type("naive");
  await page.getByText("1 of 2,000+").waitFor();
  await page.keyboard.press("Shift+Enter");
  await page.getByText("2,000 of 2,000+").waitFor();
  const isSeen = `(() => {
    const [range] = CSS.highlights.get("subtext-current-match");
    const { top, bottom } = range.getBoundingClientRect();
    return top > 0 && bottom < innerHeight;
  })()`;
  await untilTrue(page, isSeen);
  // Few laid-out paragraphs keep scrolling smooth; bench:transcript measures the time.
  expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(6_000);
}, 60_000);

test("a viewer sees everything and cannot change it; the owner deletes the video", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "Operators" }).click();
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("Email").fill("vera@subtext.example");
  await page.getByRole("button", { name: "Create invite link" }).click();
  const invitation = await page.getByRole("textbox", { name: "Invitation link" }).inputValue();
  const { page: viewer } = await dashboard.visit();
  await viewer.goto(invitation);
  await viewer.getByLabel("Name").fill("Vera Viewer");
  await viewer.getByLabel("Password").fill("another long password");
  await viewer.getByRole("button", { name: "Join" }).click();
  await viewer.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
  await viewer.getByRole("link", { name: "notes.pdf.mp4" }).click();
  await viewer.getByRole("heading", { name: "Transcription failed" }).waitFor();
  expect(await viewer.getByRole("button", { name: /Retry|Delete/ }).count()).toBe(0);
  await viewer.goto(sampleUrl);
  await transcript(viewer).getByText("Welcome").waitFor();
  expect(await viewer.getByRole("button", { name: /Transcribe as|Delete/ }).count()).toBe(0);
  const status = await viewer.evaluate(
    "fetch('/internal' + location.pathname, { method: 'DELETE' }).then(({ status }) => status)",
  );
  expect(status).toBe(403);

  const remove = async () => {
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByLabel("Type sample.mp4 to confirm").fill("sample.mp4");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
  };
  await page.goto(sampleUrl);
  await page.getByRole("button", { name: "Transcribe as a new video" }).click();
  const source = page
    .getByText("Transcribed from the recording of")
    .getByRole("link", { name: "sample.mp4" });
  expect(dashboard.url + (await source.getAttribute("href"))).toBe(sampleUrl);
  expect(await accessibilityViolations(page)).toEqual([]);
  await remove();

  await page.goto(sampleUrl);
  await page.getByRole("button", { name: "Delete" }).click();
  expect(await accessibilityViolations(page)).toEqual([]);
  const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete" });
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel("Type sample.mp4 to confirm").fill("sample.mp4");
  await confirm.click();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
  expect(await page.getByRole("link", { name: "sample.mp4" }).count()).toBe(0);
  await page.goto(sampleUrl);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
