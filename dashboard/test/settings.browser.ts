import { expect, test } from "vitest";
import { createApiKey } from "../../server/src/api-keys/api-keys.ts";
import { seedTranscript } from "../../server/test/support/seed-transcript.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { completeSetup, OWNER, openDashboard, signIn } from "./open-dashboard.ts";

const dashboard = openDashboard();

test("saving a retention rule asks for confirmation with the number of affected videos, and the video's page mentions the deletion", async () => {
  const { page } = await dashboard.visit();
  await completeSetup(page, dashboard);
  const { database, clock } = dashboard.service.parts;
  const environment = await database.kysely.selectFrom("environment").select("id").executeTakeFirstOrThrow();
  const { videoId } = await seedTranscript(dashboard.service, {
    environmentId: environment.id,
    language: "en",
    text: "Kept words.",
    filename: "old.mp4",
  });
  const long = new Date(clock.now().getTime() - 40 * 86_400_000);
  await database.kysely.updateTable("video").set({ uploaded_at: long }).where("id", "=", videoId).execute();
  await database.kysely
    .updateTable("transcription")
    .set({ finished_at: long })
    .where("video_id", "=", videoId)
    .execute();

  await page.goto(`${dashboard.url}/environments/${environment.id}/settings`);
  const retention = page.getByRole("region", { name: "Retention" });
  await retention.getByText("Delete recordings").click();
  await retention.getByLabel("Delete after (days)").fill("30");
  expect(await accessibilityViolations(page)).toEqual([]);
  await retention.getByRole("button", { name: "Save" }).click();
  await page.getByText("The recordings of 1 video older than 30 days will be deleted").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  const save = page.getByRole("button", { name: "Save and delete" });
  expect(await save.isDisabled()).toBe(true);
  await page.getByLabel("Type Production to confirm").fill(" Production ");
  await save.click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.reload();
  expect(await retention.getByLabel("Delete after (days)").inputValue()).toBe("30");
  expect(await retention.getByRole("radio", { name: "Delete recordings" }).isChecked()).toBe(true);

  await database.kysely
    .updateTable("video")
    .set({ recording_deleted_at: clock.now() })
    .where("id", "=", videoId)
    .execute();
  await page.goto(`${dashboard.url}/environments/${environment.id}/videos/${videoId}`);
  await page.getByRole("heading", { name: "The recording was deleted" }).waitFor();
  await page.getByText("Kept words.").first().waitFor();
  expect(await page.locator("video").count()).toBe(0);
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(dashboard.errors).toEqual([]);
});

test("a vocabulary is saved, and a term that occurs twice is rejected with a message", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "Settings" }).click();
  const vocabulary = page.getByRole("region", { name: "Vocabulary" });
  const terms = vocabulary.getByLabel("Terms");
  await terms.fill("Subtext\nsubtext");
  await vocabulary.getByRole("button", { name: "Save" }).click();
  await vocabulary.getByText("contains subtext twice").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await terms.fill("Subtext, Anna Weber\n");
  await vocabulary.getByRole("button", { name: "Save" }).click();
  await vocabulary.getByText("twice").waitFor({ state: "detached" });
  await page.reload();
  expect(await terms.inputValue()).toBe("Subtext\nAnna Weber");
  expect(dashboard.errors).toEqual([]);
});

test("a saved setting is undone with a button or a key, unless it was changed since", async () => {
  const { page } = await dashboard.visit();
  const { kysely: db } = dashboard.service.parts.database;
  const stored = async () =>
    await db.selectFrom("environment").select(["ai_transcription", "vocabulary"]).executeTakeFirstOrThrow();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "Settings" }).click();
  const vocabulary = page.getByRole("region", { name: "Vocabulary" });
  const terms = vocabulary.getByLabel("Terms");
  const save = async (text: string) => {
    await terms.fill(text);
    await vocabulary.getByRole("button", { name: "Save" }).click();
    await page.getByText("Vocabulary saved.").waitFor();
  };
  await save("Grace Hopper");
  // In a text field, the key undoes typing.
  await terms.press("Control+z");
  await page.getByText("Vocabulary saved.").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await vocabulary.getByRole("heading").click();
  await page.keyboard.press("Control+z");
  await page.getByText("Change undone.").waitFor();
  expect(await terms.inputValue()).toBe("Subtext\nAnna Weber");
  expect((await stored()).vocabulary).toEqual(["Subtext", "Anna Weber"]);

  await page.getByRole("switch", { name: "Transcribe new uploads" }).press("Space");
  await page.getByText("AI Transcription turned off.").waitFor();
  expect((await stored()).ai_transcription).toBe(false);
  await page.getByRole("button", { name: "Undo" }).press("Enter");
  await page.getByText("AI Transcription turned off.").waitFor({ state: "detached" });
  expect((await stored()).ai_transcription).toBe(true);

  await save("Grace Hopper");
  await db
    .updateTable("environment")
    .set({ vocabulary: JSON.stringify(["Changed by a colleague"]) })
    .execute();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("this has been changed again since then").waitFor();
  expect((await stored()).vocabulary).toEqual(["Changed by a colleague"]);
  expect(dashboard.errors).toEqual([]);
});

test("a message with an action stays while it has the focus, which then returns", async () => {
  const { page } = await dashboard.visit();
  await page.clock.install();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "Settings" }).click();
  const toggle = page.getByRole("switch", { name: "Transcribe new uploads" });
  await toggle.press("Space");
  const undo = page.getByRole("button", { name: "Undo" });
  await page.clock.fastForward(15_000);
  await undo.focus();
  await page.clock.fastForward(120_000);
  await undo.press("Tab");
  await page.clock.fastForward(120_000);
  await page.keyboard.press("Enter");
  await undo.waitFor({ state: "detached" });
  await toggle.and(page.locator(":focus")).waitFor();
  await toggle.press("Space");
  await undo.waitFor();
  await page.clock.fastForward(21_000);
  await undo.waitFor({ state: "detached" });
  expect(dashboard.errors).toEqual([]);
});

test("listed websites may upload, an invalid origin is rejected with a message, and other websites are blocked", async () => {
  const { page } = await dashboard.visit();
  await signIn(page, dashboard, OWNER);
  await page.getByRole("link", { name: "Settings" }).click();
  const uploads = page.getByRole("region", { name: "Uploads from browsers" });
  await uploads.getByText("Only these websites").click();
  const origins = uploads.getByLabel("Origins");
  await origins.fill("app.example.com");
  expect(await accessibilityViolations(page)).toEqual([]);
  await uploads.getByRole("button", { name: "Save" }).click();
  await uploads.getByText("app.example.com is not a valid origin").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await origins.fill("https://app.example.com\nhttps://www.example.com");
  await uploads.getByRole("button", { name: "Save" }).click();
  await uploads.getByText("is not a valid origin").waitFor({ state: "detached" });
  await page.reload();
  expect(await origins.inputValue()).toBe("https://app.example.com\nhttps://www.example.com");

  const { database, clock } = dashboard.service.parts;
  const db = database.kysely;
  const environment = await db.selectFrom("environment").select("id").executeTakeFirstOrThrow();
  const { key } = await createApiKey(
    { db, clock },
    { environmentId: environment.id, name: "pages", permissions: ["create_video"], expiresAt: null },
  );
  const uploadFrom = async (origin: string) => {
    const response = await fetch(`${dashboard.url}/api/v1/uploads`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "tus-resumable": "1.0.0", "upload-length": "3", origin },
    });
    return response.status;
  };
  expect(await uploadFrom("https://www.example.com")).toBe(201);
  expect(await uploadFrom("https://www.example.org")).toBe(403);
  expect(dashboard.errors).toEqual([]);
});
