import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { systemClock } from "../../server/src/lib/clock.ts";
import { channelsKey, confidenceKey, filePrefix } from "../../server/src/storage/transcript-files.ts";
import { seedTranscript } from "../../server/test/support/seed-transcript.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { createOwner, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { downloadWords } from "./video-page.ts";

const dashboard = openDashboard();
const TEXT = "We asked Jon about the budget. He told us that the bugdet is fine and that John agrees.";
/** The words "Jon" and "bugdet" have a low confidence. */
const DOUBTFUL = [2, 11];
let environmentId: string;

beforeAll(async () => {
  await createOwner(dashboard);
  const deps = { db: dashboard.service.parts.database.kysely, clock: systemClock };
  environmentId = (await createEnvironment(deps, { name: "Production", aiTranscription: true })).id;
});

async function seedVideo(channels?: readonly number[]): Promise<string> {
  const { videoId } = await seedTranscript(dashboard.service, {
    environmentId,
    language: "en",
    text: TEXT,
    async store({ transcriptionId }) {
      const confidences = TEXT.split(" ").map((_, index) => (DOUBTFUL.includes(index) ? 0.3 : 0.95));
      const prefix = filePrefix(transcriptionId, 1);
      const { transcripts } = dashboard.service.parts;
      await transcripts.put(confidenceKey(prefix), Buffer.from(JSON.stringify(confidences)));
      if (channels) await transcripts.put(channelsKey(prefix), Buffer.from(JSON.stringify(channels)));
    },
  });
  return `${dashboard.url}/environments/${environmentId}/videos/${videoId}`;
}

async function openEditor(page: Page, url: string, speaker = "Paragraph"): Promise<void> {
  await page.goto(url);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: `${speaker} at 0:00` }).waitFor();
}

const paragraph = (page: Page) => page.getByRole("textbox", { name: /^(Paragraph|\w+) at 0:00$/ });
const saved = (page: Page) => page.locator("[data-state=saved]");
const textOf = (page: Page) => paragraph(page).first().textContent();

/** Puts the caret behind a text in the first paragraph. */
async function putCaretBehind(page: Page, text: string, paragraphIndex = 0): Promise<void> {
  await page.evaluate(`(() => {
    const element = document.querySelectorAll("[contenteditable]")[${paragraphIndex}];
    const offset = element.textContent.indexOf(${JSON.stringify(text)}) + ${text.length};
    element.focus();
    getSelection().collapse(element.firstChild, offset);
  })()`);
}

async function leaveAndReturn(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Videos" }).last().click();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
  await page.goBack();
}

async function replaceWord(page: Page, from: string, to: string): Promise<void> {
  await putCaretBehind(page, from);
  for (const _ of from) await page.keyboard.press("Backspace");
  await page.keyboard.type(to);
}

test("a corrected word is saved, keeps its time, and is in the files and the captions after a reload", async () => {
  const url = await seedVideo();
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.goto(url);
  const before = await downloadWords(page);
  await openEditor(page, url);
  await replaceWord(page, "Jon", "John");
  await saved(page).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("We asked John about").waitFor();
  await page.getByRole("button", { name: "Download" }).click();
  expect(await page.getByRole("menuitem").allTextContents()).toEqual([
    "Captions (VTT)",
    "Word timings (JSON)",
    "Text (TXT)",
  ]);
  await page.keyboard.press("Escape");
  await page.reload();
  await page.getByText("We asked John about").waitFor();
  const after = await downloadWords(page);
  expect(after).toEqual(before.with(2, { ...before[2]!, word: "John" }));
});

test("undo, find and replace, and a speaker's name", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await openEditor(page, await seedVideo());
  await replaceWord(page, "fine", "great");
  expect(await textOf(page)).toContain("is great and");
  await page.keyboard.press("Control+z");
  expect(await textOf(page)).toBe(TEXT);
  await page.keyboard.press("Control+Shift+z");
  expect(await textOf(page)).toContain("is great and");

  await page.getByRole("button", { name: "Find and replace" }).click();
  await page.getByLabel("Find", { exact: true }).fill("bugdet");
  await page.getByLabel("Replace with").fill("budget");
  await page.getByText("1 match", { exact: true }).waitFor();
  expect(await page.getByRole("list", { name: "Preview" }).textContent()).toContain("bugdetbudget");
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Replace all" }).click();
  expect(await textOf(page)).toContain("the budget is great");

  await page.getByRole("button", { name: "Name the speaker" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("Ada");
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Change speaker: Ada" }).waitFor();
  await saved(page).waitFor();

  await page.getByRole("button", { name: "Revisions" }).click();
  await page.getByRole("button", { name: /Olive Owner/ }).click();
  await page.getByText("Ada:", { exact: true }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: /^Original transcript/ }).click();
  await page.getByRole("button", { name: "Restore this revision" }).click();
  await expect.poll(() => textOf(page)).toBe(TEXT);
});

test("the speakers of a call are the channels until they are named, each in one step", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  const turns = [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1];
  await openEditor(page, await seedVideo(turns), "Channel 1");
  await page.getByRole("button", { name: "Change speaker: Channel 1" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("Ada");
  await page.getByRole("radio", { name: "All of channel 1", checked: true }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Change speaker: Ada" }).first().waitFor();
  expect(await page.getByRole("button", { name: "Change speaker: Ada" }).count()).toBe(3);
  expect(await page.getByRole("button", { name: "Change speaker: Channel 2" }).count()).toBe(2);
  await saved(page).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("Channel 2", { exact: true }).first().waitFor();
  expect(await page.getByText("Ada", { exact: true }).count()).toBe(3);

  await page.getByRole("button", { name: "Download" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "Captions with speakers (VTT)" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/\.en\.speakers\.vtt$/);
  expect(readFileSync(await download.path(), "utf8")).toContain("\n<v Ada>");
});

test("low-confidence words are reviewed without a mouse", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await openEditor(page, await seedVideo());
  const selected = () => page.evaluate<string>("getSelection().toString()");
  await page.getByText("2 low-confidence words").waitFor();
  await page.keyboard.press("Alt+ArrowDown");
  expect(await selected()).toBe("Jon");
  await page.keyboard.press("Enter");
  expect(await selected()).toBe("bugdet");
  await page.keyboard.type("budget");
  await page.getByText("No low-confidence words").waitFor();
  await page.keyboard.press("Alt+ArrowUp");
  expect(await textOf(page)).toContain("the budget is fine");
});

test("two editors at once lose nothing, and both see the result", async () => {
  const url = await seedVideo();
  const [{ page: first }, { page: second }] = [await dashboard.visit(), await dashboard.visit()];
  for (const page of [first, second]) {
    await signIn(page, dashboard, OWNER);
    await openEditor(page, url);
  }
  await replaceWord(second, "fine", "great");
  await saved(second).waitFor();
  await first.getByText("Someone else changed this transcript.").waitFor();
  await replaceWord(first, "Jon", "Joan");
  for (const page of [first, second]) {
    await expect.poll(() => textOf(page)).toContain("We asked Joan about");
    await expect.poll(() => textOf(page)).toContain("is great and");
    await saved(page).waitFor();
  }
  const words = await downloadWords(first);
  expect(words.map(({ word }) => word)).toEqual(
    TEXT.replace("Jon", "Joan").replace("fine", "great").split(" "),
  );
});

test("unsaved changes survive an outage and a reload", async () => {
  const url = await seedVideo();
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await openEditor(page, url);
  await page.route("**/words", (route) =>
    route.request().method() === "PUT" ? route.abort() : route.continue(),
  );
  await replaceWord(page, "Jon", "June");
  await page.getByText("Not saved. Retrying…").waitFor();
  page.on("dialog", (dialog) => dialog.accept());
  await page.reload();
  await page.getByText("You have unsaved changes.").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.unroute("**/words");
  await page.getByRole("button", { name: "Continue editing" }).click();
  await page.getByText("Your unsaved changes were restored.").waitFor();
  expect(await textOf(page)).toContain("We asked June about");
  await saved(page).waitFor();
  expect((await downloadWords(page))[2]!.word).toBe("June");
});

test("changes are saved when a link leaves the editor, and what cannot be saved is offered and can be discarded", async () => {
  const url = await seedVideo();
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await openEditor(page, url);
  await replaceWord(page, "Jon", "June");
  await leaveAndReturn(page);
  await page.getByText("We asked June about").waitFor();
  expect((await downloadWords(page))[2]!.word).toBe("June");
  await page.getByText("You have unsaved changes.").waitFor({ state: "detached" });

  await page.route("**/words", (route) =>
    route.request().method() === "PUT" ? route.abort() : route.continue(),
  );
  await page.getByRole("button", { name: "Edit" }).click();
  await paragraph(page).waitFor();
  await replaceWord(page, "June", "Jane");
  await leaveAndReturn(page);
  await page.getByText("You have unsaved changes.").waitFor();
  await page.getByRole("button", { name: "Discard changes" }).click();
  await page.getByText("You have unsaved changes.").waitFor({ state: "detached" });
  await page.unroute("**/words");
  await page.getByRole("button", { name: "Edit" }).click();
  await expect.poll(() => textOf(page)).toContain("We asked June about");
});

test("the pages threw and logged no errors", () => {
  expect(dashboard.errors).toEqual([]);
});
