import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { addViewer } from "../../server/test/admin/operator-requests.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";

const dashboard = openDashboard();

const rows = (page: Page) => page.getByRole("table", { name: "Audit log" }).locator("tbody").getByRole("row");

test("an owner's actions appear in the audit log, which can be filtered by action and user", async () => {
  const { page } = await dashboard.visit();
  await completeSetup(page, dashboard);
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("Website backend");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.getByLabel("API key", { exact: true }).inputValue();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "I've saved this key" }).click();

  await page.getByRole("link", { name: "Audit log" }).click();
  await page.getByRole("heading", { level: 1, name: "Audit log" }).waitFor();
  const created = rows(page).filter({ hasText: "API key created" });
  await created.getByText("Website backend").waitFor();
  await created.getByText(OWNER.email).waitFor();
  await created.getByText("127.0.0.1").waitFor();
  await rows(page).filter({ hasText: "Service set up" }).waitFor();
  expect(await page.textContent("main")).not.toContain(key);
  expect(await accessibilityViolations(page)).toEqual([]);

  await page.getByLabel("Action", { exact: true }).selectOption("Environment created");
  await rows(page).filter({ hasText: "API key created" }).waitFor({ state: "detached" });
  expect(await rows(page).count()).toBe(1);
  await page.getByLabel("User", { exact: true }).selectOption("Command line");
  await page.getByText("No results").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.reload();
  await page.getByText("No results").waitFor();
  await page.getByLabel("Action", { exact: true }).selectOption("All actions");
  await page.getByLabel("User", { exact: true }).selectOption(OWNER.email);
  await created.waitFor();
});

test("a long log loads page by page", async () => {
  const { page } = await dashboard.visit();
  const { database } = dashboard.service.parts;
  const [entry] = await database.kysely.selectFrom("audit_event").selectAll().limit(1).execute();
  await database.kysely
    .insertInto("audit_event")
    .values(
      Array.from({ length: 60 }, (_, number) => ({
        ...entry!,
        id: `audit_0${number.toString().padStart(3, "0")}`,
        action: "video.deleted" as const,
        subject_id: `video_${number}`,
        detail: "{}",
      })),
    )
    .execute();
  await signIn(page, dashboard, OWNER);
  await page.goto(`${dashboard.url}/audit?action=video.deleted`);
  await rows(page).filter({ hasText: "video_59" }).waitFor();
  expect(await rows(page).count()).toBe(50);
  await page.getByRole("button", { name: "Show more" }).click();
  await rows(page)
    .getByText("video_0 ")
    .or(rows(page).getByText("video_0", { exact: false }))
    .last()
    .waitFor();
  await expect.poll(() => rows(page).count()).toBe(60);
});

test("a viewer sees no link to the log, and a notice instead of its page", async () => {
  const { page } = await dashboard.visit({ viewport: { width: 390, height: 844 } });
  await signIn(page, dashboard, await addViewer(dashboard));
  await page.goto(`${dashboard.url}/audit`);
  await page.getByText("Your role doesn't include this page.").waitFor();
  expect(await page.getByRole("link", { name: "Audit log" }).count()).toBe(0);
  expect(await accessibilityViolations(page)).toEqual([]);
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
