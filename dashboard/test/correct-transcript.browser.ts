import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { systemClock } from "../../server/src/lib/clock.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { createOwner, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { seedReviewable, REVIEWABLE_TEXT as TEXT } from "./seed-reviewable.ts";
import { downloadWords, untilTrue } from "./video-page.ts";

const dashboard = openDashboard();
let environmentId: string;

beforeAll(async () => {
  await createOwner(dashboard);
  const deps = { db: dashboard.service.parts.database.kysely, clock: systemClock };
  environmentId = (await createEnvironment(deps, { name: "Production", aiTranscription: true })).id;
});

async function seedVideo(
  seed: Omit<Parameters<typeof seedReviewable>[1], "environmentId"> = {},
): Promise<string> {
  const { videoId } = await seedReviewable(dashboard.service, { environmentId, ...seed });
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
  await page.evaluate(`(async () => {
    const element = document.querySelectorAll("[contenteditable]")[${paragraphIndex}];
    const offset = element.textContent.indexOf(${JSON.stringify(text)}) + ${text.length};
    element.focus();
    getSelection().collapse(element.firstChild, offset);
    // The page learns of the caret's new place in a later task.
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
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
  await page.getByRole("menuitem").first().waitFor();
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
  await putCaretBehind(page, "told");
  await page.keyboard.press("Delete");
  expect(await textOf(page)).toContain("He toldus that");
  await page.keyboard.press("Control+z");
  expect(await textOf(page)).toContain("He told us that");

  await page.getByRole("button", { name: "Find and replace" }).click();
  await page.getByLabel("Find", { exact: true }).fill("He|e");
  await page.getByText("0 matches", { exact: true }).waitFor();
  await page.getByLabel("Find", { exact: true }).fill("that");
  await page.getByLabel("Replace with").fill("that, that");
  await page.getByText("2 matches", { exact: true }).waitFor();
  for (const shown of ["1 of 2", "3 of 3", "1 of 4"]) {
    await page.getByRole("button", { name: "Replace", exact: true }).click();
    await page.getByText(shown, { exact: true }).waitFor();
  }
  expect(await textOf(page)).toContain("us that, that the bugdet is great and that, that John");
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await page.getByText("2 matches", { exact: true }).waitFor();
  await page.getByLabel("Find", { exact: true }).press("Enter");
  await page.getByLabel("Find", { exact: true }).press("Escape");
  await page.getByLabel("Replace with").waitFor({ state: "detached" });
  expect(await page.evaluate("getSelection().toString()")).toBe("that");

  await page.getByRole("button", { name: "Find and replace" }).click();
  await page.getByLabel("Find", { exact: true }).fill("bugdet");
  await page.getByLabel("Replace with").fill("budget");
  await page.getByText("1 match", { exact: true }).waitFor();
  expect(await page.getByRole("list", { name: "Preview" }).textContent()).toContain("bugdetbudget");
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Replace all" }).press("Enter");
  expect(await textOf(page)).toContain("the budget is great");
  await page.keyboard.press("Escape");
  await page.getByLabel("Replace with").waitFor({ state: "detached" });
  // The caret is where it was before.
  await page.keyboard.type("x");
  expect(await textOf(page)).toContain("us thatx the budget");
  await page.keyboard.press("Control+z");

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

test("Undo in the browser's menu undoes the editor's last change, also one that the browser does not know", async () => {
  const { page, context } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await openEditor(page, await seedVideo());
  const devtools = await context.newCDPSession(page);
  // Chromium runs commands that come with a key event like those of its menus.
  const chooseUndo = () =>
    devtools.send("Input.dispatchKeyEvent", { type: "rawKeyDown", commands: ["undo"] });
  await replaceWord(page, "fine", "great");
  await page.keyboard.press("Alt+ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByText("1 low-confidence word", { exact: true }).waitFor();
  await chooseUndo();
  await page.getByText("2 low-confidence words").waitFor();
  await chooseUndo();
  await expect.poll(() => textOf(page)).toBe(TEXT);
  expect(await page.getByRole("button", { name: "Undo" }).isDisabled()).toBe(true);
  expect(await page.getByRole("button", { name: "Redo" }).isDisabled()).toBe(false);
});

test("Done also saves what is typed during a slow save, and the focus stays visible in the editor's place or where the user moved it", async () => {
  const url = await seedVideo({ recordingSeconds: 20 });
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  const focused = "document.activeElement";
  for (const isMoved of [false, true]) {
    await openEditor(page, url);
    await replaceWord(page, isMoved ? "great" : "fine", isMoved ? "good" : "great");
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/words", async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.getByRole("button", { name: "Done" }).press("Enter");
    await page.locator("[data-state=saving]").waitFor();
    expect(await page.evaluate(`${focused}.textContent`)).toBe("Done");
    if (isMoved) {
      await replaceWord(page, "agrees", "objects");
      await page.getByRole("slider").first().focus();
    }
    release();
    await page.getByRole("button", { name: "Edit" }).waitFor();
    if (isMoved) await page.getByText("is good and that John objects").waitFor();
    expect(await page.evaluate(`${focused}.matches(":focus-visible")`)).toBe(true);
    const isInPanel = `${focused}.querySelector("section[tabindex]") !== null`;
    expect(await page.evaluate(isMoved ? `${focused}.matches("[role=slider], input")` : isInPanel)).toBe(
      true,
    );
    await page.unrouteAll();
  }
});

test("the speakers of a call are the channels until they are named, each in one step", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  const turns = [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1];
  await openEditor(page, await seedVideo({ channels: turns }), "Channel 1");
  await page.getByRole("button", { name: "Change speaker: Channel 1" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill("Ada");
  await page.getByRole("radio", { name: "All of channel 1", checked: true }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Change speaker: Ada" }).first().waitFor();
  expect(await page.getByRole("button", { name: "Change speaker: Ada" }).count()).toBe(3);
  expect(await page.getByRole("button", { name: "Change speaker: Channel 2" }).count()).toBe(2);
  const second = page.getByRole("textbox", { name: /^Channel 2 at/ });
  await page.getByRole("button", { name: "Change speaker: Channel 2" }).first().click();
  await page.getByText("This paragraph", { exact: true }).click();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("group", { name: "Other speakers" }).getByRole("button", { name: "Ada" }).click();
  await expect.poll(() => second.count()).toBe(1);
  await page.keyboard.press("Control+z");
  await expect.poll(() => second.count()).toBe(2);
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
  await putCaretBehind(page, "fine");
  await page.keyboard.press("Alt+ArrowUp");
  expect(await selected()).toBe("bugdet");
  await page.keyboard.press("Alt+ArrowUp");
  expect(await selected()).toBe("Jon");
  await page.keyboard.press("Enter");
  expect(await selected()).toBe("bugdet");
  await page.keyboard.type("budget");
  await page.getByText("No low-confidence words").waitFor();
  await page.keyboard.press("Alt+ArrowUp");
  expect(await textOf(page)).toContain("the budget is fine");
});

test("low-confidence words and the spoken word stay highlighted after typing and undo", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await openEditor(page, await seedVideo({ recordingSeconds: 20 }));
  const wordsIn = (layer: string) =>
    page.evaluate<string[]>(`[...(CSS.highlights.get("subtext-${layer}") ?? [])].map(String)`);
  const highlighted = () => wordsIn("doubtful");
  await untilTrue(page, "document.querySelector('video').readyState >= 1");
  // "about" is spoken from 1.5 to 2 s.
  await page.evaluate("document.querySelector('video').currentTime = 1.7");
  await expect.poll(() => wordsIn("active")).toEqual(["about"]);
  await putCaretBehind(page, "fine");
  await page.keyboard.type("r ");
  expect(await highlighted()).toEqual(["Jon", "bugdet"]);
  // Without focus, a paragraph shows no spaces that separate nothing.
  await page.keyboard.press("Tab");
  await expect.poll(() => textOf(page)).toContain("is finer and");
  expect(await highlighted()).toEqual(["Jon", "bugdet"]);
  expect(await wordsIn("active")).toEqual(["about"]);
  await page.keyboard.press("Control+z");
  expect(await wordsIn("active")).toEqual(["about"]);
  await putCaretBehind(page, "Jon");
  await page.keyboard.press("Enter");
  await page.keyboard.press("End");
  await page.keyboard.type("  ");
  await page.keyboard.press("Tab");
  await expect.poll(() => textOf(page)).toMatch(/agrees\.$/);
  expect(await highlighted()).toEqual(["bugdet"]);
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
  await putCaretBehind(first, "that John");
  await replaceWord(second, "the budget", "it");
  await expect.poll(() => textOf(first)).toContain("about it.");
  await first.keyboard.type("ny");
  expect(await textOf(first)).toContain("that Johnny agrees");
  await expect.poll(() => textOf(second)).toContain("that Johnny agrees");

  await first.route("**/words", (route) =>
    route.request().method() === "PUT" ? route.abort() : route.continue(),
  );
  await replaceWord(first, "told us", "told me");
  await replaceWord(second, "told us", "told everybody");
  await saved(second).waitFor();
  await first.getByText("You and someone else changed the same words.").waitFor();
  await first.getByText("“me” instead of “everybody”").waitFor();
  expect(await accessibilityViolations(first)).toEqual([]);
  await first.unroute("**/words");
  await expect.poll(() => textOf(second)).toContain("He told me that");
});

test("a caret stays in its word when another person's change splits joined paragraphs again", async () => {
  const text = Array.from({ length: 150 }, (_, index) => `word${index}${index % 10 === 9 ? "." : ""}`);
  const url = await seedVideo({ text: text.join(" ") });
  const { page, context } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  const other = await dashboard.newTab(context);
  for (const each of [page, other]) await openEditor(each, url);
  const paragraphs = page.locator("[data-paragraph]");
  const count = await paragraphs.count();
  await putCaretBehind(page, "", 1);
  await page.keyboard.press("Backspace");
  expect(await paragraphs.count()).toBe(count - 1);
  await putCaretBehind(page, "word65");
  await replaceWord(other, "word0", "changed");
  await expect.poll(() => textOf(page)).toContain("changed word1");
  expect(await paragraphs.count()).toBe(count);
  await page.keyboard.type("x");
  expect(await paragraphs.nth(1).textContent()).toContain("word65x word66");
});

test("the review of words plays the second around each, also on a phone", async () => {
  const { page } = await dashboard.visit({
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
  });
  await signIn(page, dashboard, OWNER);
  await openEditor(page, await seedVideo({ recordingSeconds: 60 }));
  await untilTrue(page, "document.querySelector('video').readyState >= 1");
  await page.evaluate(`(() => {
    const video = document.querySelector("video");
    video.muted = true;
    window.played = [];
    video.addEventListener("play", () => window.played.push(video.currentTime));
    video.addEventListener("pause", () => window.played.push(video.currentTime));
  })()`);
  const played = () => page.evaluate<number[]>("window.played");

  await page.getByRole("button", { name: "Review next" }).tap();
  await expect.poll(async () => (await played()).length).toBe(2);
  await page.getByRole("button", { name: "Confirm" }).tap();
  await page.getByText("1 low-confidence word", { exact: true }).waitFor();
  await expect.poll(async () => (await played()).length).toBe(4);
  const [firstFrom, firstTo, secondFrom, secondTo] = await played();
  // "Jon" is spoken from 1 to 1.5 s, "bugdet" from 5.5 to 6 s.
  expect(firstFrom).toBeCloseTo(0, 1);
  expect(firstTo).toBeGreaterThanOrEqual(2.5);
  expect(secondFrom).toBeCloseTo(4.5, 1);
  expect(secondTo).toBeGreaterThanOrEqual(7);
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);

  await putCaretBehind(page, "We");
  await page.keyboard.press("Alt+Period");
  await untilTrue(page, `document.querySelector("video").currentTime >= ${secondTo! + 4.9}`);
  await page.keyboard.press("Alt+Comma");
  await untilTrue(page, `document.querySelector("video").currentTime < ${secondTo! + 0.1}`);
  for (const isPaused of [false, true]) {
    await page.keyboard.press("Control+Enter");
    await untilTrue(page, `document.querySelector("video").paused === ${isPaused}`);
  }
  const { length } = await played();
  await putCaretBehind(page, "bugdet");
  await page.keyboard.press("Alt+Enter");
  await expect.poll(async () => (await played()).slice(length)).toContainEqual(expect.closeTo(5.5, 1));
  expect(await textOf(page)).toBe(TEXT);
});

test("a long transcript keeps its position, has one tab stop, follows playback, and its paragraphs can be joined", async () => {
  const words = Array.from({ length: 600 }, (_, index) => `word${index}${index % 10 === 9 ? "." : ""}`);
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.goto(await seedVideo({ text: words.join(" "), recordingSeconds: 300 }));
  const firstVisible = () =>
    page.evaluate<string>(`(() => {
      const scroller = document.querySelector("[data-start]").parentElement;
      const { top } = scroller.getBoundingClientRect();
      const paragraphs = [...scroller.querySelectorAll("[data-start]")];
      return paragraphs.find((each) => each.getBoundingClientRect().bottom > top).dataset.start;
    })()`);
  const isVisible = (layer: string) => `(() => {
    const [range] = CSS.highlights.get("${layer}") ?? [];
    const { top, bottom } = document.querySelector("[data-start]").parentElement.getBoundingClientRect();
    const line = range?.getBoundingClientRect();
    return line && line.top >= top && line.bottom <= bottom;
  })()`;
  await page.getByText("word99").hover();
  await page.mouse.wheel(0, 1_200);
  await expect.poll(firstVisible).not.toBe("0");
  const readAt = await firstVisible();
  await page.getByRole("button", { name: "Edit" }).click();
  await paragraph(page).first().waitFor();
  await expect.poll(firstVisible).toBe(readAt);

  // Only the current paragraph and its speaker are in the tab order.
  await putCaretBehind(page, "word", 3);
  const inEditor = "document.activeElement.closest('[data-paragraph]')?.dataset.paragraph ?? null";
  await page.keyboard.press("Shift+Tab");
  expect(await page.evaluate(`document.activeElement.matches("[data-speaker]") && (${inEditor})`)).toBe("3");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(inEditor)).toBe("3");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(inEditor)).toBeNull();

  await page.getByRole("button", { name: "Find and replace" }).click();
  await page.getByLabel("Find", { exact: true }).fill("word43");
  await page.getByText("11 matches").waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("1 of 11").waitFor();
  await page.keyboard.press("Shift+Enter");
  await page.getByText("11 of 11").waitFor();
  await untilTrue(page, isVisible("subtext-current-match"));
  await page.getByLabel("Find", { exact: true }).fill("word431");
  await page.getByText("1 match", { exact: true }).waitFor();
  for (const _ of ["shown", "shown again"]) {
    // In every poll, because the editor may still be correcting its previous scroll.
    const scrollUp = "document.querySelector('[data-start]').parentElement.scrollTo(0, 0)";
    await untilTrue(page, `(${scrollUp}, !(${isVisible("subtext-current-match")}))`);
    await page.keyboard.press("Enter");
    await page.getByText("1 of 1", { exact: true }).waitFor();
    await untilTrue(page, isVisible("subtext-current-match"));
  }
  await page.getByLabel("Find", { exact: true }).fill("word43");
  await page.getByText("11 matches").waitFor();
  await page.getByRole("list", { name: "Preview" }).getByRole("button").first().click();
  expect(await page.evaluate("getSelection().toString()")).toBe("word43");
  await page.getByRole("button", { name: "Find and replace" }).click();

  await page.evaluate("document.querySelector('video').currentTime = 200");
  await untilTrue(page, isVisible("subtext-active"));
  expect(await page.evaluate("String([...CSS.highlights.get('subtext-active')][0])")).toBe("word400");
  await page.getByText("word405").hover();
  await page.mouse.wheel(0, -1_000);
  await page.getByRole("button", { name: "Follow" }).click();
  await page.getByRole("button", { name: "Follow" }).waitFor({ state: "detached" });
  await untilTrue(page, isVisible("subtext-active"));

  const count = await page.locator("[data-paragraph]").count();
  await putCaretBehind(page, "", 1);
  await page.keyboard.press("Backspace");
  expect(await page.locator("[data-paragraph]").count()).toBe(count - 1);
  await page.keyboard.press("Backspace");
  await saved(page).waitFor();
  expect((await downloadWords(page))[59]).toEqual({ word: "word59.word60", start: 29.5, end: 30.5 });
  await page.keyboard.press("End");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("word59.word60").waitFor();
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
  // The draft of this word is stored while the page is being closed.
  await replaceWord(page, "fine", "great");
  await page.reload();
  await page.getByText("You have unsaved changes.").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.unroute("**/words");
  await page.getByRole("button", { name: "Continue editing" }).click();
  await page.getByText("Your unsaved changes were restored.").waitFor();
  expect(await textOf(page)).toContain("We asked June about");
  expect(await textOf(page)).toContain("is great and");
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
