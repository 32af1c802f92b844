import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { accessibilityViolations } from "./accessibility.ts";
import { drop } from "./drop.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";

const LIMIT_BYTES = 4_000_000;
const dashboard = openDashboard({ MAX_UPLOAD_BYTES: String(LIMIT_BYTES) });
const panel = (page: Page) => page.getByRole("region", { name: "Uploads" });
const row = (page: Page, name: string) =>
  page.getByRole("table", { name: "Videos" }).getByRole("row").filter({ hasText: name });

test("an upload interrupted by a reload resumes when the same file is dropped again", async () => {
  const { page, context } = await dashboard.visit();
  page.on("dialog", (dialog) => dialog.accept());
  await completeSetup(page, dashboard);
  const network = await context.newCDPSession(page);
  await network.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 250_000,
  });
  const file = { name: "long.mp4", bytes: randomBytes(3_000_000) };
  await drop(page, [file]);
  await row(page, "long.mp4")
    .getByText(/^[1-9]\d?% of/)
    .waitFor();

  await page.reload();
  await row(page, "long.mp4").getByText("Uploading").waitFor();
  expect(await panel(page).count()).toBe(0);
  await network.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  const offsets: number[] = [];
  let created = 0;
  page.on("request", (request) => {
    if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]));
    if (request.method() === "POST" && request.url().endsWith("/videos")) created += 1;
  });
  await drop(page, [file]);
  await panel(page).getByText("Uploaded").waitFor();
  expect(created).toBe(0);
  expect(offsets).toHaveLength(1);
  expect(offsets[0]).toBeGreaterThan(0);
  expect(offsets[0]).toBeLessThan(file.bytes.length);
  await row(page, "long.mp4").getByText("Failed").waitFor();
  expect(await row(page, "long.mp4").count()).toBe(1);
});

test("several files upload at once; a rejected one shows the reason, and the others continue", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  const small = ["one.mp4", "two.mp4", "three.mp4", "four.mp4"].map((name) => ({
    name,
    bytes: randomBytes(1000),
  }));
  await drop(page, [
    { name: "too large.mp4", bytes: Buffer.alloc(LIMIT_BYTES + 1) },
    { name: "empty.mp4", bytes: Buffer.alloc(0) },
    ...small,
  ]);
  await panel(page).getByText("2 uploads failed").waitFor();
  await panel(page).getByText("An upload may have at most 4 MB.").waitFor();
  expect(await panel(page).getByText("Done", { exact: true }).count()).toBe(4);
  expect(await accessibilityViolations(page)).toEqual([]);
  for (const { name } of small) await row(page, name).getByText("Failed").waitFor();
  for (const name of ["too large.mp4", "empty.mp4"]) expect(await row(page, name).count()).toBe(0);
  await page.getByRole("link", { name: "Failed 5" }).waitFor();

  await panel(page).getByText("The file is empty.").waitFor();
  for (const name of ["too large.mp4", "empty.mp4"]) {
    await panel(page)
      .getByRole("button", { name: `Cancel upload of ${name}` })
      .click();
  }
  await panel(page).getByText("Uploaded").waitFor();
  await page.getByRole("button", { name: "Close uploads" }).click();
  await panel(page).waitFor({ state: "detached" });
});

test("an upload whose requests get 409 and 423 is resumed, not restarted", async () => {
  const { page } = await dashboard.visit();
  await page.clock.install();
  await signIn(page, dashboard, OWNER);
  let created = 0;
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/videos")) created += 1;
  });
  const file = { name: "busy.mp4", bytes: randomBytes(1000) };
  for (const status of [423, 409]) {
    await page.route("**/api/v1/uploads/**", (route) => route.fulfill({ status, body: "" }));
    if (status === 423) await drop(page, [file]);
    else await page.getByRole("button", { name: "Retry upload of busy.mp4" }).click();
    await expect
      .poll(async () => {
        await page.clock.runFor(10_000);
        return await panel(page).getByText("1 upload failed").count();
      })
      .toBe(1);
    await page.unroute("**/api/v1/uploads/**");
  }
  await page.getByRole("button", { name: "Retry upload of busy.mp4" }).click();
  await panel(page).getByText("Uploaded").waitFor();
  expect(created).toBe(1);
  expect(await row(page, "busy.mp4").count()).toBe(1);
});

test("a file that is added twice, here and in another tab, is uploaded once", async () => {
  const { page, context } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  let created = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await context.route("**/videos", async (route) => {
    if (route.request().method() === "POST") {
      created += 1;
      await held;
    }
    await route.continue();
  });
  const file = { name: "twice.mp4", bytes: randomBytes(1000) };
  await drop(page, [file, file]);
  await drop(page, [file]);
  await panel(page).getByText("Uploading 1 of 1").waitFor();
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
  await drop(other, [file]);
  await panel(other).getByText("This file is already being uploaded in another tab.").waitFor();
  release();
  await panel(page).getByText("Uploaded").waitFor();
  expect(created).toBe(1);
  await row(page, "twice.mp4").waitFor();
  expect(await row(page, "twice.mp4").count()).toBe(1);

  // A canceled upload does not block its own retry.
  await page.getByRole("button", { name: "Close uploads" }).click();
  await page.route("**/api/v1/uploads/**", () => {});
  await drop(page, [file]);
  await page.getByRole("button", { name: "Cancel upload of twice.mp4" }).click();
  await page.unroute("**/api/v1/uploads/**");
  await drop(page, [file]);
  await panel(page).getByText("Uploaded").waitFor();
});

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
