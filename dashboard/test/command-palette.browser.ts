import { expect, test } from "vitest";
import { createEnvironment } from "../../server/src/environments/environments.ts";
import { addViewer } from "../../server/test/admin/operator-requests.ts";
import { seedTranscript } from "../../server/test/support/seed-transcript.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { createOwner, OWNER, openDashboard, signIn } from "./open-dashboard.ts";
import { seedEveryState } from "./seed-videos.ts";

const dashboard = openDashboard();

test("the command palette offers the actions of the shown video that its state and the operator's role allow", async () => {
  const { service, url } = dashboard;
  const deps = { db: service.parts.database.kysely, clock: service.parts.clock };
  await createOwner(dashboard);
  const { id: environmentId } = await createEnvironment(deps, { name: "Archive", aiTranscription: true });
  await seedEveryState(service, environmentId);
  await seedTranscript(service, { environmentId, language: "en", text: "Hello.", filename: "Talk.mp4" });
  const viewer = await addViewer(dashboard);
  const downloads = ["Captions (VTT)", "Word timings (JSON)", "Text (TXT)"].map(
    (file) => `Download: ${file}`,
  );
  for (const [operator, name, expected] of [
    [OWNER, "Talk.mp4", ["Transcribe as a new video", "Delete video", "Edit transcript", ...downloads]],
    [OWNER, "notes.pdf.mp4", ["Retry transcription", "Delete video"]],
    [OWNER, "customer call, Tuesday.mp4", ["Cancel transcription", "Delete video"]],
    [viewer, "Talk.mp4", downloads],
    [viewer, "notes.pdf.mp4", []],
  ] as const) {
    const { page, context } = await dashboard.visit();
    await signIn(page, dashboard, operator);
    await page.goto(`${url}/environments/${environmentId}/videos`);
    await page.getByRole("link", { name }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    if (name === "Talk.mp4") await page.getByRole("button", { name: "Download" }).waitFor();
    await page.keyboard.press("Control+k");
    const group = page.getByRole("group", { name: "This page" }).getByRole("option");
    await page.getByRole("option", { name: "Sign out" }).waitFor();
    const names = await group.allTextContents();
    expect(names.sort()).toEqual([...expected].sort());
    await context.close();
  }
});

test("the command palette opens pages, environments and videos and runs actions with only the keyboard", async () => {
  const { service, url } = dashboard;
  const deps = { db: service.parts.database.kysely, clock: service.parts.clock };
  const { id } = await createEnvironment(deps, { name: "Production", aiTranscription: true });
  await createEnvironment(deps, { name: "Staging", aiTranscription: true });
  const video = { environmentId: id, language: "en", text: "Hello.", filename: "Board meeting.mp4" };
  const { videoId } = await seedTranscript(service, video);
  const { page } = await dashboard.visit({ viewport: { width: 360, height: 740 }, colorScheme: "light" });
  await signIn(page, dashboard, OWNER);
  await page.goto(`${url}/environments/${id}/videos`);
  await page.getByRole("link", { name: "Board meeting.mp4" }).waitFor();

  const palette = page.getByRole("dialog", { name: "Command palette" });
  const field = palette.getByRole("combobox");
  const selected = palette.getByRole("option", { selected: true });
  const open = async () => {
    await page.keyboard.press("Control+k");
    await field.and(page.locator(":focus")).waitFor();
  };
  const choose = async (text: string, name: string) => {
    await open();
    await page.keyboard.type(text);
    await selected
      .and(palette.getByText(name, { exact: true }))
      .or(selected.getByText(name))
      .waitFor();
    await page.keyboard.press("Enter");
    await palette.waitFor({ state: "detached" });
  };

  await open();
  for (const name of ["Upload videos", "Create API key", "Search", "System", "Staging"]) {
    await palette.getByRole("option", { name, exact: true }).waitFor();
  }
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  // The screen reader announces the option that the field points to.
  await page.keyboard.press("ArrowDown");
  await palette.getByRole("option", { name: "Create API key", selected: true }).waitFor();
  expect(await field.getAttribute("aria-activedescendant")).toBe(await selected.getAttribute("id"));
  await page.keyboard.type("no such thing");
  // Runs no command of the previous text, which was shown until now.
  await page.keyboard.press("Enter");
  await palette.getByText("No results").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "detached" });

  await choose("board", "Board meeting.mp4");
  await page.waitForURL(`**/videos/${videoId}`);
  await page.getByRole("button", { name: "Edit" }).waitFor();
  await choose("delete", "Delete video");
  await page.getByLabel("Type Board meeting.mp4 to confirm").and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const downloaded = page.waitForEvent("download");
  await choose("download word", "Download: Word timings (JSON)");
  expect((await downloaded).suggestedFilename()).toBe("Board meeting.en.json");
  await choose("edit", "Edit transcript");
  await page.getByRole("textbox", { name: "Paragraph at 0:00" }).waitFor();
  await choose("new env", "New environment");
  await page.getByRole("dialog", { name: "New environment" }).waitFor();
  await page.keyboard.press("Escape");
  await choose("invite", "Invite an operator");
  await page.getByRole("dialog", { name: "Invite someone" }).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  await page.keyboard.press("Escape");
  await choose("audit", "Audit log");
  await page.getByRole("heading", { level: 1, name: "Audit log" }).waitFor();
  await choose("dark", "Switch to dark theme");
  await expect.poll(() => page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
  await choose("create key", "Create API key");
  await page.getByRole("dialog", { name: "New API key" }).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  await page.keyboard.press("Escape");
  await choose("staging", "Staging");
  await page.getByText("No videos yet").waitFor();
  const chooser = page.waitForEvent("filechooser");
  await choose("upload", "Upload videos");
  expect((await chooser).isMultiple()).toBe(true);
  await choose("sign out", "Sign out");
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  expect(dashboard.errors).toEqual([]);
});
