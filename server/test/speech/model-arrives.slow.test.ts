import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { KNOWN_MODELS, type KnownModel } from "@subtext/speech/models/catalog";
import { expect, onTestFinished, test } from "vitest";
import { languageRecording } from "../../../speech/test/support/language-recordings.ts";
import { ModelHub } from "../../../speech/test/support/model-hub.ts";
import { spoken } from "../../../speech/test/support/spoken.ts";
import { startTinyModelHub } from "../../../speech/test/support/tiny-model-hub.ts";
import { wavFile } from "../../../speech/test/support/wav.ts";
import { createTenant, startService, until, untilEnded, upload } from "../support/service.ts";

const SAMPLE = join(import.meta.dirname, "../../../demo/sample/sample.mp4");
/** The bundled engine may transcribe its English part. */
const TINY = KNOWN_MODELS[0] as KnownModel;

async function startHub(): Promise<ModelHub> {
  const hub = await startTinyModelHub(TINY);
  onTestFinished(() => hub.stop());
  return hub;
}

test("Spanish videos wait for the model that is being downloaded, an English one does not", async () => {
  const hub = await startHub();
  hub.faults = { pieceDelayMs: 1000 };
  const service = await startService({
    env: { MODEL_DOWNLOAD: "auto", MODEL_HUB_URL: hub.url, WHISPER_MODEL: TINY.name },
  });
  const { models, database } = service.service.parts;
  await until(async () => models.state().state === "downloading");
  const tenant = await createTenant(service);
  const spanish = languageRecording("spanish");
  const videoId = await upload(service, tenant, await readFile(spanish.path));
  // Too short to be refused: the bundled engine recognizes nothing and leaves the language undetermined.
  const short = await upload(service, tenant, wavFile(spoken("es").samples.subarray(0, 2 * 16_000)));

  const row = async (id = videoId) =>
    await database.kysely
      .selectFrom("transcription")
      .selectAll()
      .where("video_id", "=", id)
      .executeTakeFirstOrThrow();
  const afterFirstAttempt = async (id: string) =>
    await until(async () => {
      const found = await row(id);
      return (found.failure_code !== null || found.finished_at !== null) && found;
    });
  const waiting = { status: "PENDING", failure_count: 0 };
  expect(await afterFirstAttempt(videoId)).toMatchObject({
    ...waiting,
    failure_code: "language_unsupported",
  });
  expect(await afterFirstAttempt(short)).toMatchObject({ ...waiting, failure_code: "language_undetermined" });
  const sample = await upload(service, tenant, await readFile(SAMPLE));
  expect(await untilEnded(service, tenant, sample)).toMatchObject({ status: "COMPLETED", language: "en" });
  expect(models.state().state).toBe("downloading");

  hub.faults = {};
  expect(await untilEnded(service, tenant, videoId)).toMatchObject({ status: "COMPLETED", language: "es" });
  expect(await row()).toMatchObject({ failure_count: 0 });
  expect((await row()).language_segments).toMatchObject([{ language: "es", engine: TINY.name }]);
  expect(models.state()).toMatchObject({ state: "installed" });
  expect(await untilEnded(service, tenant, short)).toMatchObject({ status: "COMPLETED", language: "es" });

  const english = await upload(service, tenant, await readFile(languageRecording("english").path));
  expect(await untilEnded(service, tenant, english)).toMatchObject({ status: "COMPLETED", language: "en" });
  const recognized = await database.kysely
    .selectFrom("transcription")
    .select("language_segments")
    .where("video_id", "=", english)
    .executeTakeFirstOrThrow();
  expect(new Set(recognized.language_segments?.map(({ language }) => language))).toEqual(new Set(["en"]));
  expect(recognized.language_segments?.map(({ engine }) => engine)).toContain("moonshine-tiny");
});

test("if the model is unavailable, a Spanish video fails with an error that says what is missing and how to get it", async () => {
  const hub = await ModelHub.start("somebody/else", {});
  onTestFinished(() => hub.stop());
  const service = await startService({
    env: { MODEL_DOWNLOAD: "auto", MODEL_HUB_URL: hub.url, WHISPER_MODEL: TINY.name },
  });
  await until(async () => service.service.parts.models.state().state === "failed");
  const tenant = await createTenant(service);
  const videoId = await upload(service, tenant, await readFile(languageRecording("spanish").path));
  expect(await untilEnded(service, tenant, videoId)).toMatchObject({ status: "FAILED" });
  const { failure_code, failure_message } = await service.service.parts.database.kysely
    .selectFrom("transcription")
    .selectAll()
    .where("video_id", "=", videoId)
    .executeTakeFirstOrThrow();
  expect(failure_code).toBe("language_unsupported");
  expect(failure_message).toContain("npx subtext models pull whisper-tiny");
});
