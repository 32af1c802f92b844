import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { printTable } from "../../../bench/src/table.ts";
import { createEnvironment } from "../../../server/src/environments/environments.ts";
import { seedManyVideos } from "../../../server/test/support/seed-many-videos.ts";
import { untilTrue } from "../long-list/frames.ts";
import { withDashboard } from "../measured-dashboard.ts";
import { transcribeSample } from "../screenshots/transcribe-sample.ts";
import { Editor } from "./editor.ts";

/*
 * npm run bench:walk: corrects a transcript in Chromium, from the invitation of an editor to a second editor who works
 * at the same time. Every step acts as soon as the page allows it, so only the service and the page are measured. Exits
 * with an error if an outcome is not as expected.
 */

const VIDEOS = 1_000;
const VIDEO = "Welcome to Subtext";
const EVE = { name: "Eve Editor", email: "eve@subtext.example", password: "another long password" };
const IDA = { name: "Ida Editor", email: "ida@subtext.example", password: "a third long password" };

const rows: string[][] = [];

/** Measures a step, which includes waiting for its outcome. */
async function step<T>(name: string, act: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await act();
  } catch (error) {
    throw new Error(`The step "${name}" failed.`, { cause: error });
  } finally {
    rows.push([name, (performance.now() - start).toFixed(0)]);
  }
}

await withDashboard(async ({ service, browser, environmentId, url, signIn }) => {
  const { database, clock } = service.parts;
  await createEnvironment({ db: database.kysely, clock }, { name: "Staging", aiTranscription: true });
  await transcribeSample(service, environmentId);
  await seedManyVideos(database.kysely, environmentId, VIDEOS - 1);
  const owner = await newPage(browser);
  await signIn(owner);

  const link = await step("the owner invites an editor to one environment", () => invite(owner, EVE.email));
  await step("the editor joins", async () => {
    const page = await newPage(browser);
    await join(page, link, EVE);
    await page.context().close();
  });
  const page = await newPage(browser);
  await step("sign in as the editor", () => signInAs(page, url, EVE));
  await step(`find a video among ${VIDEOS} by its name`, async () => {
    await page.getByRole("searchbox").fill(VIDEO.toLowerCase());
    await untilTrue(page, "document.querySelectorAll('a[data-video]').length === 1");
  });
  await step("open it", async () => {
    await page.getByRole("link", { name: VIDEO }).click();
    await page.getByText("uploaded a moment ago").first().waitFor();
  });
  await step("play it", async () => {
    await page.keyboard.press("k");
    await untilTrue(page, "document.querySelector('video').currentTime > 0");
  });
  const editor = new Editor(page);
  await step("open the editor while it plays", () => editor.open());
  const original = await editor.text();
  await step("click a word and type another", async () => {
    await editor.selectWord("small");
    await page.keyboard.type("little");
    await editor.untilText(original.replace("small", "little"));
  });
  await step("insert a word", async () => {
    await editor.clickBehind("every");
    await page.keyboard.type(" single");
    await editor.untilText((text) => text.includes("every single word"));
  });
  await step("delete a word", async () => {
    await editor.selectWord("wonderful");
    await page.keyboard.press("Backspace");
    await editor.untilText((text) => /have a\s+day/.test(text));
  });
  await step("merge two words", async () => {
    await editor.clickBehind("another");
    await page.keyboard.press("Delete");
    await editor.untilText((text) => text.includes("anothercompany"));
  });
  await step("split them again", async () => {
    await page.keyboard.type(" ");
    await editor.untilText((text) => text.includes("another company"));
  });
  await step("find and replace, with a preview", async () => {
    await page.getByRole("button", { name: "Find and replace" }).click();
    await page.getByLabel("Find", { exact: true }).fill("recording");
    await page.getByLabel("Replace with").fill("soundtrack");
    await page.getByRole("list", { name: "Preview" }).getByText("soundtrack").first().waitFor();
    await page.getByRole("button", { name: "Replace all" }).click();
    await editor.untilText((text) => text.includes("soundtrack") && !text.includes("recording"));
    await page.getByRole("button", { name: "Find and replace" }).click();
  });
  await step("undo it, and redo it", async () => {
    await page.keyboard.press("Control+z");
    await editor.untilText((text) => text.includes("recording"));
    await page.keyboard.press("Control+Shift+z");
    await editor.untilText((text) => text.includes("soundtrack"));
  });
  await step("name a speaker", async () => {
    await page.getByRole("button", { name: "Name the speaker" }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("Ada");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Change speaker: Ada" }).first().waitFor();
  });
  const corrected = await editor.text();
  await step("wait until it is saved", () => editor.untilSaved());
  await step("delete words of two paragraphs, and undo it", async () => {
    await editor.dragOver("company", "computer");
    await page.keyboard.press("Delete");
    await editor.untilText((text) => !text.includes("company") && !text.includes("computer"));
    await page.keyboard.press("Control+z");
    await editor.untilText(corrected);
  });
  await step("see the revision and its changed words", async () => {
    await page.getByRole("button", { name: "Revisions" }).click();
    await page
      .getByRole("button", { name: new RegExp(EVE.name) })
      .first()
      .click();
    await page.getByRole("dialog").locator("ins", { hasText: "soundtrack" }).waitFor();
    await page.getByRole("dialog").locator("del", { hasText: "recording" }).waitFor();
  });
  await step("restore the original", async () => {
    await page.getByRole("button", { name: /^Original transcript/ }).click();
    await page.getByRole("button", { name: "Restore this revision" }).click();
    await editor.untilText(original);
  });
  await step("restore the correction", async () => {
    await page.getByRole("button", { name: "Revisions" }).click();
    await page
      .getByRole("button", { name: new RegExp(EVE.name) })
      .nth(1)
      .click();
    await page.getByRole("button", { name: "Restore this revision" }).click();
    await editor.untilText(corrected);
  });
  await step("close the editor", () => editor.close());
  await step("download the corrected captions", async () => {
    await page.getByRole("button", { name: "Download" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Captions (VTT)" }).click(),
    ]);
    const vtt = await readFile(await download.path(), "utf8");
    if (!vtt.includes("soundtrack")) throw new Error(`The captions lack the correction:\n${vtt}`);
  });
  await step("find the new word by search, and play it", async () => {
    await page.getByRole("complementary").getByRole("link", { name: "Search" }).click();
    await page.getByRole("searchbox", { name: "Search all transcripts" }).fill("soundtrack");
    await page.getByRole("article").getByRole("listitem").getByRole("link").first().click();
    await page.waitForURL(/\/videos\/video_\w+\?t=/);
    await page.getByText("soundtrack").first().waitFor();
  });

  const second = await newPage(browser);
  await join(second, await invite(owner, IDA.email), IDA);
  await second.goto(page.url());
  const other = new Editor(second);
  await step("a second editor opens the same transcript", () => other.open());
  await step("the first one returns to it", () => editor.open());
  const statuses: number[] = [];
  for (const each of [page, second]) {
    each.on("response", (response) => {
      if (response.request().method() === "PUT") statuses.push(response.status());
    });
  }
  await step("both type and save at the same moment; both see both edits", async () => {
    await editor.selectWord("player");
    await other.selectWord("document");
    await Promise.all([page.keyboard.type("window"), second.keyboard.type("file")]);
    await Promise.all([page.keyboard.press("Control+s"), second.keyboard.press("Control+s")]);
    for (const each of [editor, other]) {
      await each.untilText((text) => text.includes("window") && text.includes("file"));
      await each.untilSaved();
    }
    const notice = "Someone else changed this transcript.";
    await Promise.any([page, second].map((each) => each.getByText(notice).waitFor()));
  });
  if (!statuses.includes(412)) throw new Error(`No save was refused: ${statuses.join(", ")}`);
});

printTable("From sign-in to a corrected transcript", ["step", "ms"], rows);

async function newPage(browser: Browser): Promise<Page> {
  return await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
}

/** @returns the invitation link */
async function invite(page: Page, email: string): Promise<string> {
  await page.getByRole("link", { name: "Operators" }).click();
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("Email").fill(email);
  await page.getByText("Some", { exact: true }).click();
  await page.getByLabel("Role in Production").selectOption("Editor");
  await page.getByRole("button", { name: "Create invite link" }).click();
  const link = await page.getByRole("textbox", { name: "Invitation link" }).inputValue();
  await page.getByRole("button", { name: "Done" }).click();
  return link;
}

async function join(page: Page, link: string, { name, password }: typeof EVE): Promise<void> {
  await page.goto(link);
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
}

async function signInAs(page: Page, url: string, { email, password }: typeof EVE): Promise<void> {
  await page.goto(`${url}/sign-in`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("a[data-video]").first().waitFor();
}
