import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { seedFailed, seedTranscriptFiles } from "../../server/test/bulk-operations/seed-videos.ts";
import { readZip } from "../../server/test/support/read-zip.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { createOwner, OWNER, openDashboard, signIn } from "./open-dashboard.ts";

const dashboard = openDashboard();
let environmentId: string;

beforeAll(async () => {
  const { database, clock } = dashboard.service.parts;
  await createOwner(dashboard);
  const named = { name: "Production", aiTranscription: true };
  ({ id: environmentId } = await createEnvironment({ db: database.kysely, clock }, named));
  // More than one page of the list.
  await seedFailed(dashboard.service, environmentId, 120);
  for (const filename of ["first.mp4", "second.mp4", "third.mp4"]) {
    await seedTranscriptFiles(dashboard.service, { environmentId, filename });
  }
});

const bar = (page: Page) => page.getByRole("region", { name: "Selected videos" });
const box = (page: Page, name: string) => page.getByRole("checkbox", { name: `Select ${name}` });
const toast = (page: Page, text: string) =>
  page.getByRole("status", { name: "Notifications" }).getByText(text);

test("videos are selected with the keyboard and by range, and downloaded", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "third.mp4" }).focus();
  await page.keyboard.press("Space");
  await bar(page).getByText("1 selected").waitFor();
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await bar(page).getByText("3 selected").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Space");
  await bar(page).getByText("2 selected").waitFor();
  await page.getByRole("button", { name: "Clear selection" }).click();
  await bar(page).waitFor({ state: "detached" });

  await box(page, "third.mp4").click();
  await box(page, "first.mp4").click({ modifiers: ["Shift"] });
  await bar(page).getByText("3 selected").waitFor();
  // None of them has failed.
  expect(await page.getByRole("button", { name: "Retry failed videos" }).isDisabled()).toBe(true);
  const downloaded = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download transcripts" }).click();
  const archive = await downloaded;
  expect(archive.suggestedFilename()).toMatch(/^Production transcripts .*\.zip$/);
  const files = readZip(readFileSync(await archive.path()));
  expect([...files.keys()]).toEqual(
    ["first", "second", "third"].flatMap((stem) =>
      ["vtt", "json", "txt"].map((format) => `${stem}.en.${format}`),
    ),
  );
  expect(dashboard.errors).toEqual([]);
}, 60_000);

test("all that match are deleted after a typed confirmation, and vanish", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: /^Failed/ }).click();
  await page.getByRole("link", { name: "third.mp4" }).waitFor({ state: "detached" });
  await page.getByRole("checkbox", { name: "Select all loaded videos" }).click();
  await page.getByRole("button", { name: "Select all 120 matching videos" }).click();
  await page.getByRole("button", { name: "Delete…" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete 120 videos?" });
  const confirm = dialog.getByRole("button", { name: "Delete" });
  expect(await confirm.isDisabled()).toBe(true);
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.keyboard.type("120");
  await page.keyboard.press("Enter");
  await toast(page, "Deleted 120 videos").waitFor({ timeout: 60_000 });
  await page.getByText("No failed videos").waitFor();
  await page.getByRole("link", { name: /^All/ }).click();
  await page.getByRole("link", { name: "third.mp4" }).waitFor();
  expect(dashboard.errors).toEqual([]);
}, 120_000);

test("a retry on a phone is shown and canceled", async () => {
  await seedFailed(dashboard.service, environmentId, 101);
  const { page } = await dashboard.visit({ viewport: { width: 360, height: 740 } });
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: /^Failed/ }).click();
  await page.getByRole("link", { name: "third.mp4" }).waitFor({ state: "detached" });
  await box(page, "broken 100.mp4").click();
  await page.getByRole("button", { name: "Select all 101 matching videos" }).click();
  await bar(page).getByText("All 101 matching videos selected").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);

  // The operation waits until it is canceled.
  await dashboard.service.parts.queue.pause();
  const retry = page.getByRole("button", { name: "Retry failed videos" });
  const alert = bar(page).getByRole("alert");
  const refused = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const checked = Promise.withResolvers<void>();
  await page.route("**/downloads", (route) => route.abort());
  await page.route("**/bulk-operations", async (route) => {
    if (route.request().method() !== "POST") return await route.continue();
    await refused.promise;
    await route.fulfill({ status: 502 });
  });
  const download = page.getByRole("button", { name: "Download" });
  await download.click();
  await alert.waitFor();
  await retry.click();
  await alert.waitFor({ state: "detached" });
  await download.click();
  await alert.waitFor();
  refused.resolve();
  await alert.getByText("HTTP 502").waitFor();
  await page.unroute("**/bulk-operations");

  // The list of operations is loaded before the response arrives, and not again after it.
  await page.route("**/bulk-operations", async (route) => {
    if (route.request().method() !== "POST") return await route.continue();
    const response = await route.fetch();
    await released.promise;
    await page.route("**/bulk-operations", async (list) => {
      await checked.promise;
      await list.continue();
    });
    await route.fulfill({ response });
  });
  await retry.click();
  const running = page.getByRole("region", { name: "Bulk actions in progress" });
  await expect
    .poll(async () => {
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
      return await running.count();
    })
    .toBe(1);
  released.resolve();
  await toast(page, "Queuing 101 videos for retry").waitFor();
  expect(await running.getByText("Queuing 101 videos for retry").count()).toBe(1);
  checked.resolve();
  expect(await accessibilityViolations(page)).toEqual([]);
  await running.getByRole("button", { name: "Cancel: Queuing 101 videos for retry" }).click();
  await toast(page, "Retry canceled after 0 of 101 videos").waitFor();
  await running.waitFor({ state: "detached" });
  expect(dashboard.errors).toEqual([]);
}, 60_000);
