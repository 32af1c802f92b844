import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { drop } from "./drop.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { seedEveryState } from "./seed-videos.ts";
import { untilTrue } from "./video-page.ts";

const dashboard = openDashboard();
const row = (page: Page, name: string) =>
  page.getByRole("table", { name: "Videos" }).getByRole("row").filter({ hasText: name });

async function endSessions(): Promise<void> {
  await dashboard.service.parts.database.kysely.deleteFrom("operator_session").execute();
}

test("a session that ends while a page is open leads to the sign-in page, and from there back", async () => {
  const { page } = await dashboard.visit();
  await completeSetup(page, dashboard);
  const environmentId = /environments\/(\w+)/.exec(page.url())?.[1] ?? "";
  await seedEveryState(dashboard.service, environmentId);
  await page.getByRole("link", { name: "System" }).click();
  await page.getByRole("region", { name: "Queue" }).waitFor();
  await endSessions();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(new URL(page.url()).searchParams.get("next")).toBe("/system");
  await page.getByLabel("Email").fill(OWNER.email);
  await page.getByLabel("Password").fill(OWNER.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "System" }).waitFor();
});

test("a video deleted in one tab disappears from the list and page of other tabs", async () => {
  const { page: list, context } = await dashboard.visit();
  await signIn(list, dashboard, OWNER);
  const [detail, third] = [await context.newPage(), await context.newPage()];
  for (const page of [detail, third]) {
    await page.goto(list.url());
    await page.getByRole("link", { name: "keynote.mkv" }).click();
    await page.getByRole("heading", { level: 1, name: "keynote.mkv" }).waitFor();
  }
  await detail.getByRole("button", { name: "Delete" }).click();
  await detail.getByLabel("Type keynote.mkv to confirm").fill("keynote.mkv");
  await detail.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row(list, "keynote.mkv").waitFor({ state: "detached" });
  await third.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
  await row(list, "weekly.mp4").getByText("Next in queue").waitFor();
});

test("single-key shortcuts move through the list until they are disabled; arrow keys move from a focused video", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await row(page, "phone-recording").waitFor();
  const focused = () => page.evaluate("document.activeElement.textContent");
  await page.keyboard.press("j");
  expect(await focused()).toBe("phone-recording.mp4");
  await page.keyboard.press("j");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("k");
  expect(await focused()).toBe("weekly.mp4");
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("Next video").waitFor();
  await page.getByRole("dialog").getByText("Enable single-key shortcuts").click();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  for (const key of ["/", "?"]) await page.keyboard.press(key);
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(page.url()).toMatch(/\/videos$/);
  await row(page, "weekly.mp4").getByRole("link").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "weekly.mp4" }).waitFor();
  await page.goBack();
  await row(page, "weekly.mp4").waitFor();
});

test("a hidden page closes its stream, and refreshes when it is visible again", async () => {
  const { page } = await dashboard.visit();
  await page.clock.install();
  await signIn(page, dashboard, OWNER);
  await row(page, "weekly.mp4").waitFor();
  await page.evaluate(`{
    window.streams = 0;
    const Real = EventSource;
    window.EventSource = class extends Real { constructor(url) { super(url); window.streams++; } };
  }`);
  const turn = (state: string) =>
    page.evaluate(`{
      Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }`);
  await turn("hidden");
  await page.clock.runFor(30_000);
  const db = dashboard.service.parts.database.kysely;
  await db.updateTable("video").set({ metadata: '{"filename":"renamed.mp4"}' }).execute();
  await page.clock.runFor(3_000);
  expect(await row(page, "renamed.mp4").count()).toBe(0);
  await turn("visible");
  await page.clock.runFor(1_000);
  await untilTrue(page, "window.streams === 1");
  await row(page, "renamed.mp4").first().waitFor();
});

test("names are shown literally, whatever they contain", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  const names = ["<img src=x onerror=alert(1)>.mp4", "javascript:alert(1)", "\u202egnp.mp4", "اجتماع.mp4"];
  await drop(
    page,
    names.map((name) => ({ name, bytes: Buffer.from("no video") })),
  );
  for (const name of names) await row(page, name).getByRole("link", { name, exact: true }).waitFor();
  expect(await page.locator("main img").count()).toBe(0);
});

test("a secret is copied even if the browser provides no clipboard API", async () => {
  const { page, context } = await dashboard.visit();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: dashboard.url });
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("Copied");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.getByLabel("API key", { exact: true }).inputValue();
  await page.evaluate(`{
    window.clipboard = navigator.clipboard;
    Object.defineProperty(navigator, "clipboard", { value: undefined });
  }`);
  await page.getByRole("button", { name: "Copy: API key" }).click();
  await page.getByRole("button", { name: "Copied: API key" }).waitFor();
  expect(await page.evaluate("window.clipboard.readText()")).toBe(key);
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
