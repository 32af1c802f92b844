import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { systemClock } from "../../server/src/lib/clock.ts";
import { seedTranscript } from "../../server/test/support/seed-transcript.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { createOwner, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { downloadWords, untilTrue } from "./video-page.ts";
import { Editor } from "./walk/editor.ts";

const dashboard = openDashboard();
let environmentId: string;

beforeAll(async () => {
  await createOwner(dashboard);
  const deps = { db: dashboard.service.parts.database.kysely, clock: systemClock };
  environmentId = (await createEnvironment(deps, { name: "Production", aiTranscription: true })).id;
});

/** The first paragraph contains the words 0 to 59, the second one the words 60 to 119. */
async function openEditor(): Promise<{ page: Page; editor: Editor }> {
  const words = Array.from({ length: 150 }, (_, index) => `word${index}${index % 10 === 9 ? "." : ""}`);
  const text = words.join(" ");
  const { videoId } = await seedTranscript(dashboard.service, { environmentId, language: "en", text });
  const { context, page } = await dashboard.visit();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signIn(page, dashboard, OWNER);
  await page.goto(`${dashboard.url}/environments/${environmentId}/videos/${videoId}`);
  const editor = new Editor(page);
  await editor.open();
  return { page, editor };
}

const clipboard = (page: Page) => page.evaluate<string>("navigator.clipboard.readText()");

test("words of two paragraphs are selected with the mouse, copied, cut, typed over and pasted", async () => {
  const { page, editor } = await openEditor();
  const original = await editor.text();
  await editor.dragOver("word57", "word61");
  await page.getByText("5 selected words").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.keyboard.press("Control+c");
  await expect.poll(() => clipboard(page)).toBe("word57 word58 word59.\n\nword60 word61");
  await page.keyboard.press("Control+x");
  await editor.untilText((text) => text.includes("word56  word62"));
  await page.keyboard.type("new");
  await editor.untilText((text) => text.includes("word56 new word62"));
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  await editor.untilText(original);

  await editor.clickBehind("word2");
  await page.keyboard.type(" ");
  await page.keyboard.press("Control+v");
  await editor.untilText((text) => /word2 word57 word58 word59\.\s+word60 word61 word3/.test(text));
  await editor.untilSaved();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Edit" }).waitFor();
  const words = await downloadWords(page);
  expect(words.slice(2, 9).map(({ word }) => word)).toEqual(
    "word2 word57 word58 word59. word60 word61 word3".split(" "),
  );
  expect(words[8]).toMatchObject({ start: 1.5, end: 2 });
});

test("words of two paragraphs are selected with the keyboard, named, replaced and deleted", async () => {
  const { page, editor } = await openEditor();
  await editor.clickBehind("word58");
  // To the end of the paragraph, into the next one, and over its first word.
  await page.keyboard.press("Shift+End");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Control+Shift+ArrowRight");
  await page.getByText("2 selected words").waitFor();
  await page.keyboard.press("Shift+ArrowDown");
  await page.getByText(/^[3-9] selected words/).waitFor();
  await page.keyboard.press("Shift+ArrowUp");
  await page.getByText("2 selected words").waitFor();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Speaker of the selected words" }).waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Ada");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Change speaker: Ada" }).first().waitFor();
  const texts = (await editor.text()).split("\n");
  expect(texts.slice(1, 3)).toEqual(["word59.", "word60"]);

  await editor.clickBehind("word59.");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+End");
  await page.getByText("1 selected word", { exact: true }).waitFor();
  await page.keyboard.type("other");
  await editor.untilText((text) => text.includes("word59. other\nword61"));

  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+a");
  await page.getByText("150 selected words").waitFor();
  await page.keyboard.press("Escape");
  await untilTrue(page, "!CSS.highlights.has('subtext-selection')");
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await editor.untilText("");
  await page.keyboard.press("Control+z");
  await editor.untilText((text) => text.includes("word59. other\nword61"));
  await editor.untilSaved();
});

test("a selection ends when something else moves the caret, and typing then changes only what is shown", async () => {
  const { page, editor } = await openEditor();
  await editor.dragOver("word57", "word61");
  await page.getByText("5 selected words").waitFor();
  await page.evaluate(`(() => {
    const text = document.querySelector("[data-paragraph] [contenteditable]").firstChild;
    getSelection().setBaseAndExtent(text, 0, text, 5);
  })()`);
  await untilTrue(page, "!CSS.highlights.has('subtext-selection')");
  await editor.clickBehind("word57");
  await page.keyboard.type("x");
  await editor.untilText((text) => text.includes("word57x word58 word59.") && text.includes("word61"));
});

test("a selection that returns to its paragraph is the browser's; one without words deletes nothing", async () => {
  const { page, editor } = await openEditor();
  await editor.clickBehind("word58");
  await page.keyboard.press("Shift+End");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await page.getByText("2 selected words").waitFor();
  await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("Shift+ArrowLeft");
  await untilTrue(page, "getSelection().toString().trim() === 'word59.'");
  await page.keyboard.press("Backspace");
  await editor.untilText((text) => /word58\s*\nword60/.test(text));

  await page.keyboard.press("End");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Backspace");
  await editor.untilText((text) => /word58 +word60/.test(text));
});

test("a space over selected words separates what is typed next", async () => {
  const { page, editor } = await openEditor();
  await editor.dragOver("word57", "word61");
  await page.getByText("5 selected words").waitFor();
  await page.keyboard.type(" x");
  await editor.untilText((text) => text.includes("word56 x word62"));
});

test("a click after a deletion puts the caret where it was clicked", async () => {
  const { page, editor } = await openEditor();
  await editor.selectWord("word70");
  await page.keyboard.press("Backspace");
  await editor.clickBehind("word55");
  await page.keyboard.type("x");
  await editor.untilText((text) => text.includes("word55x word56"));
});

test("the pages threw and logged no errors", () => {
  expect(dashboard.errors).toEqual([]);
});
