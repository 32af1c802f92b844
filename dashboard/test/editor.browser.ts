import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { systemClock } from "../../server/src/lib/clock.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { createOwner, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { seedEveryState } from "./seed-videos.ts";

// With one slot and one running video, the start of the next one can be estimated.
const dashboard = openDashboard({ WORKER_CONCURRENCY: "1" });
const EDITOR = { email: "eve@subtext.example", password: "another long password" };

/** The editor has a role only in `stagingId`. */
let productionId: string;
let stagingId: string;

beforeAll(async () => {
  await createOwner(dashboard);
  const deps = { db: dashboard.service.parts.database.kysely, clock: systemClock };
  productionId = (await createEnvironment(deps, { name: "Production", aiTranscription: true })).id;
  stagingId = (await createEnvironment(deps, { name: "Staging", aiTranscription: true })).id;
  await seedEveryState(dashboard.service, stagingId);
});

const links = (page: Page) =>
  page.getByRole("complementary").getByRole("navigation").getByRole("link").allTextContents();
const pages = async (page: Page) => (await links(page)).map((text) => text.trim());

/** Opens the command palette and returns what it offers. */
async function commands(page: Page): Promise<string[]> {
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Command palette" });
  await palette.getByRole("option", { name: "Sign out" }).waitFor();
  const names = await palette.getByRole("option").allTextContents();
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });
  return names;
}

test("an owner invites an editor to one environment", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "Operators" }).click();
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("Email").fill(EDITOR.email);
  await page.getByText("Some", { exact: true }).click();
  const create = page.getByRole("button", { name: "Create invite link" });
  expect(await create.isDisabled()).toBe(true);
  await page.getByLabel("Role in Staging").selectOption("Editor");
  expect(await accessibilityViolations(page)).toEqual([]);
  await create.click();
  const link = await page.getByRole("textbox", { name: "Invitation link" }).inputValue();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("Editor in Staging").waitFor();

  const { page: editor } = await dashboard.visit();
  await editor.goto(link);
  await editor.getByText("You've been invited as an editor in Staging.").waitFor();
  await editor.getByLabel("Name").fill("Eve Editor");
  await editor.getByLabel("Password").fill(EDITOR.password);
  await editor.getByRole("button", { name: "Join" }).click();
  await editor.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
});

test("an editor sees the videos of one environment, retries one, and sees no page of keys", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, EDITOR);
  await page.getByRole("button", { name: "Upload videos" }).waitFor();
  expect(await pages(page)).toEqual(["Videos", "Account"]);
  const themes = expect.stringMatching(/^Switch to (dark|light) theme$/);
  expect(await commands(page)).toEqual(["Upload videos", themes, "Sign out", "Videos", "Search", "Account"]);
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Environment: Staging. Switch" }).click();
  await page.getByRole("menuitem").first().waitFor();
  expect(await page.getByRole("menuitem").allTextContents()).toEqual(["Staging"]);
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "notes.pdf.mp4" }).click();
  await page.getByRole("heading", { name: "Transcription failed" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).waitFor();
  await page.getByRole("button", { name: "Retry transcription" }).click();
  await page.getByRole("heading", { name: "Transcription failed" }).waitFor({ state: "detached" });
  await page.getByText("Transcription starts when a worker is free.").waitFor();

  const status = await page.evaluate(
    `fetch("/internal/environments/${stagingId}/api-keys").then(({ status }) => status)`,
  );
  expect(status).toBe(403);
});

test("an editor cancels a waiting and a running transcription, and retries one", async () => {
  const { kysely: db } = dashboard.service.parts.database;
  await db.updateTable("environment_queue").set({ work_seconds_per_byte: 1e-6 }).execute();
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, EDITOR);
  await page.getByText("Next in queue · starts in about 40 s").waitFor();
  for (const [name, heading] of [
    ["weekly.mp4", "Next in queue · starts in about 40 s"],
    ["customer call, Tuesday.mp4", /^Transcribing/],
  ] as const) {
    await page.getByRole("link", { name }).click();
    await page.getByRole("heading", { name: heading }).waitFor();
    await page.getByRole("button", { name: "Cancel transcription" }).click();
    await page.getByRole("heading", { name: "Transcription canceled" }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Videos" }).first().click();
    await page.getByText("Transcription canceled.").first().waitFor();
  }
  await page.getByRole("link", { name: "weekly.mp4" }).click();
  await page.getByRole("button", { name: "Retry transcription" }).click();
  await page.getByRole("button", { name: "Cancel transcription" }).waitFor();
});

test("an owner makes the editor a viewer of all environments", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "Operators" }).click();
  await page.getByRole("button", { name: "Change role of Eve Editor" }).click();
  expect(await page.getByLabel("Role in Staging").inputValue()).toBe("editor");
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByText("All", { exact: true }).click();
  await page.getByRole("radio", { name: "Viewer" }).check({ force: true });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Change undone.").waitFor();
  await page.getByRole("button", { name: "Change role of Eve Editor" }).click();
  expect(await page.getByLabel("Role in Staging").inputValue()).toBe("editor");
  await page.getByText("All", { exact: true }).click();
  await page.getByRole("radio", { name: "Viewer" }).check({ force: true });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });

  const { page: viewer } = await dashboard.visit({ viewport: { width: 390, height: 844 } });
  await signIn(viewer, dashboard, EDITOR);
  await viewer.goto(`${dashboard.url}/environments/${productionId}/videos`);
  await viewer.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
  expect(await viewer.getByRole("button", { name: "Upload videos" }).count()).toBe(0);
  const offered = await commands(viewer);
  expect(offered).toEqual(expect.arrayContaining(["Sign out", "API keys", "Operators", "Staging"]));
  for (const name of [
    "Upload videos",
    "Create API key",
    "Invite an operator",
    "New environment",
    "Audit log",
  ])
    expect(offered).not.toContain(name);
  await viewer.getByRole("button", { name: "Menu" }).click();
  const links = viewer.getByRole("dialog").getByRole("navigation").getByRole("link");
  await links.first().waitFor();
  expect(await links.allTextContents()).toEqual(
    expect.arrayContaining([expect.stringContaining("API keys"), expect.stringContaining("Operators")]),
  );
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
