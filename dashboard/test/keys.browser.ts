import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { PERMISSIONS } from "../../client/src/contract/permission.ts";
import { addViewer } from "../../server/test/admin/operator-requests.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";

const dashboard = openDashboard();

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

/** Runs the page's command in a shell and returns the API's response. */
async function run(command: string): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)("sh", ["-c", `${command} --silent`]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

test("a key is created, shown once, works with curl, and stops working when it is revoked", async () => {
  const { page } = await dashboard.visit();
  await completeSetup(page, dashboard);
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByText("No API keys yet").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);

  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("Website backend");
  await page.getByText("Upload", { exact: true }).click();
  await page.getByLabel("Expires").selectOption("In 90 days");
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.getByLabel("API key", { exact: true }).inputValue();
  const command = (await page.getByRole("figure").locator("pre").textContent()) ?? "";
  expect(command).toContain(key);
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(await run(command)).toEqual({ data: [], nextCursor: null });

  // Escape also asks for confirmation.
  await page.keyboard.press("Escape");
  await page.getByText("Have you saved this key?").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "I've saved this key" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });

  await page.reload();
  const line = row(page, "Website backend");
  await line.getByText(key.slice(0, 34)).waitFor();
  await line.getByText("Read", { exact: true }).waitFor();
  await line.getByText("just now").last().waitFor();
  expect(await page.content()).not.toContain(key);
  expect(await accessibilityViolations(page)).toEqual([]);

  await page.getByRole("button", { name: "Revoke Website backend" }).click();
  await page.getByText("will fail immediately").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  const revoke = page.getByRole("dialog").getByRole("button", { name: "Revoke" });
  const confirmation = page.getByLabel("Type Website backend to confirm");
  await confirmation.fill("Website");
  // Enter submits the form, so the disabled button alone would not prevent it.
  await confirmation.press("Enter");
  expect(await revoke.isDisabled()).toBe(true);
  expect(await run(command)).toEqual({ data: [], nextCursor: null });
  await confirmation.fill("Website backend");
  await revoke.click();
  await page.getByRole("table", { name: "Revoked and expired keys" }).getByText("Website backend").waitFor();
  expect(await run(command)).toMatchObject({ status: 401, code: "invalid_api_key" });
});

test("a key with an expiry date is created with the keyboard, and errors are shown", async () => {
  const { page } = await dashboard.visit({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await signIn(page, dashboard, OWNER);
  await page.goto(page.url().replace("/videos", "/api-keys"));
  await page.getByRole("button", { name: "New key" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("Nightly export");
  for (const _ of PERMISSIONS) {
    await page.keyboard.press("Tab");
    if (await page.evaluate("document.activeElement.checked")) await page.keyboard.press("Space");
  }
  await page.keyboard.press("Enter");
  await page.getByText("Choose at least one.").waitFor();
  await page.getByRole("checkbox", { name: /^Webhooks/ }).focus();
  await page.keyboard.press("Space");
  await page.getByLabel("Expires").selectOption("Custom date");
  await page.getByLabel("Last day").fill("2020-01-01");
  await page.getByRole("button", { name: "Create key" }).press("Enter");
  await page.getByRole("alert").getByText("The expiry date must be in the future.").waitFor();
  await page.getByLabel("Last day").fill("2031-02-03");
  await page.getByRole("button", { name: "Create key" }).press("Enter");
  await page.getByText("Copy this key now.").waitFor();
  await page.getByRole("button", { name: "Done" }).press("Enter");
  await page.getByRole("button", { name: "I've saved this key" }).press("Enter");
  await row(page, "Nightly export").getByText("Feb 3, 2031").waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await accessibilityViolations(page)).toEqual([]);
  }
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  // Also on this page, the palette opens an empty form, not the key that was just created.
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").and(page.locator(":focus")).waitFor();
  await page.keyboard.type("create api key");
  await page.getByRole("option", { name: "Create API key", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "New API key" }).waitFor();
});

test("a viewer sees the keys and cannot change them", async () => {
  const viewer = await addViewer(dashboard);
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, viewer);
  await page.getByRole("link", { name: "API keys" }).click();
  await row(page, "Nightly export").waitFor();
  await page.getByText("Only owners can create or revoke keys.").waitFor();
  expect(await page.getByRole("button", { name: /New key|Revoke/ }).count()).toBe(0);
  expect(await accessibilityViolations(page)).toEqual([]);
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
