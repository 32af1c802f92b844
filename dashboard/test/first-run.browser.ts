import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { accessibilityViolations } from "./accessibility.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";

// No hub answers there, so the download of the chosen model fails.
const dashboard = openDashboard({ MODEL_DOWNLOAD: "auto", MODEL_HUB_URL: "http://127.0.0.1:1" });

test("nothing on the setup page moves while it loads or before the click on its switch", async () => {
  const { page } = await dashboard.visit({ viewport: { width: 1280, height: 1000 } });
  await page.addInitScript(`
    globalThis.shifts = 0;
    new PerformanceObserver((list) => { shifts += list.getEntries().length; }).observe({ type: "layout-shift" });
  `);
  await page.goto(`${dashboard.url}/setup#${await dashboard.service.parts.operators.newSetupToken()}`);
  const toggle = page.getByRole("switch", { name: "AI Transcription" });
  const label = page.locator("label").filter({ has: toggle });
  await label.waitFor();
  expect(await page.evaluate("shifts")).toBe(0);

  for (const [email, isChecked] of [
    ["olive", false],
    [OWNER.email, true],
  ] as const) {
    await page.getByLabel("Email").click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type(email);
    await press(page, label, isChecked ? "bottom" : "top");
    expect(await toggle.isChecked()).toBe(isChecked);
  }
});

test("the setup page creates the owner and the first environment, and its link works once", async () => {
  const { page } = await dashboard.visit({ viewport: { width: 1280, height: 1400 } });
  const link = `${dashboard.url}/setup#${await dashboard.service.parts.operators.newSetupToken()}`;

  await page.goto(`${dashboard.url}/`);
  await page.getByRole("heading", { name: "Welcome to Subtext" }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);

  await page.goto(`${dashboard.url}/setup#invalid`);
  await page.reload();
  await page.getByLabel("Name", { exact: true }).fill("Mallory");
  await page.getByLabel("Email").fill("mallory@subtext.example");
  // The first click must count, even if it makes the password's error appear or disappear.
  await page.getByLabel("Password").click();
  for (const password of ["short", "a long enough password"]) {
    await page.keyboard.press("Control+A");
    await page.keyboard.type(password);
    await press(page, page.getByRole("button", { name: "Finish setup" }), "bottom");
    if (password === "short") await page.getByText("12 characters or more").waitFor();
  }
  expect(await page.getByRole("alert").textContent()).toContain("This link was already used");

  await page.goto(link);
  await page.reload();
  const engine = page.getByLabel("Engine", { exact: true });
  await engine.waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  await page.setViewportSize({ width: 1280, height: 1400 });
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(await engine.inputValue()).toBe("whisper-small");
  expect(await engine.getByText("(recommended)").allTextContents()).toEqual([
    expect.stringMatching(/^whisper-small \(recommended\) – download /),
  ]);
  await engine.selectOption("whisper-tiny");
  await completeSetup(page, dashboard);
  await page.getByRole("button", { name: "Environment: Production" }).waitFor();
  await page.getByText("New uploads are transcribed automatically.").waitFor();

  await page.getByRole("link", { name: "System" }).click();
  await page.getByText(/whisper-tiny/).waitFor();

  const { page: another } = await dashboard.visit();
  await another.goto(link);
  await another.getByRole("heading", { name: "All set up" }).waitFor();
});

test("signing out, a wrong password, and signing in to the previous page work with the keyboard", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);

  await page.goto(`${dashboard.url}/account`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.keyboard.type(OWNER.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Incorrect email or password.").waitFor();
  await page.getByLabel("Password").focus();
  await page.keyboard.type(OWNER.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
});

test("a session that was ended on another device ends at its next request", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  const { page: another } = await dashboard.visit();
  await signIn(another, dashboard, OWNER);
  await another.getByRole("link", { name: "Account" }).click();
  await another.getByText("This device").waitFor();
  await another.getByRole("button", { name: "End all other sessions" }).click();
  await another.getByRole("button", { name: "End all other sessions" }).waitFor({ state: "detached" });

  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("an invited viewer sees everything and cannot change anything", async () => {
  const { page: owner } = await dashboard.visit();
  await signIn(owner, dashboard, OWNER);
  await owner.getByRole("link", { name: "Operators" }).click();
  await owner.getByRole("button", { name: "Invite" }).click();
  await owner.getByLabel("Email").fill("Vera@Subtext.example");
  expect(await accessibilityViolations(owner)).toEqual([]);
  await owner.getByRole("button", { name: "Create invite link" }).click();
  const link = await owner.getByRole("textbox", { name: "Invitation link" }).inputValue();
  await owner.getByRole("button", { name: "Done" }).click();
  await owner.getByText("vera@subtext.example").waitFor();
  expect(await accessibilityViolations(owner)).toEqual([]);

  const { page } = await dashboard.visit();
  await page.goto(link);
  await page.getByText("You've been invited as a viewer").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByLabel("Name").fill("Vera Viewer");
  await page.getByLabel("Password").fill("another long password");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("heading", { level: 1, name: "Videos" }).waitFor();
  expect(await page.getByRole("button", { name: "Upload videos" }).count()).toBe(0);

  await page.getByRole("link", { name: "Settings" }).click();
  const toggle = page.getByRole("region", { name: "AI Transcription" });
  await toggle.getByText("Only an owner can change this.").waitFor();
  expect(await toggle.getByRole("switch").isDisabled()).toBe(true);
  const path = new URL(page.url()).pathname.replace("/settings", "");
  const refused = await page.evaluate(async (environment) => {
    const change = { method: "PATCH", body: '{"aiTranscription":false}' };
    const headers = { "content-type": "application/json" };
    const response = await fetch(`/internal${environment}`, { ...change, headers });
    return [response.status, ((await response.json()) as { code: string }).code];
  }, path);
  expect(refused).toEqual([403, "owner_required"]);

  const { page: late } = await dashboard.visit();
  await late.goto(link);
  await late.getByRole("alert").getByText("This invitation was used").waitFor();
});

/** Clicks near an edge of the control. Like a user, does not follow a control that moves while the button is down. */
async function press(page: Page, control: Locator, edge: "top" | "bottom"): Promise<void> {
  const { x, y, width, height } = (await control.boundingBox())!;
  await page.mouse.move(x + width / 2, edge === "top" ? y + 3 : y + height - 3);
  await page.mouse.down();
  await page.evaluate("new Promise(requestAnimationFrame)");
  await page.mouse.up();
}

test("no page had an error or violated its Content-Security-Policy", () => {
  expect(dashboard.errors).toEqual([]);
});
