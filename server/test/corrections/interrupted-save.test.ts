import { expect, test } from "vitest";
import { SERVICE } from "../../src/audit/audit-events.ts";
import { sweepStoredFiles } from "../../src/cleanup/sweep-stored-files.ts";
import { prepareCorrection, readCurrentWords } from "../../src/corrections/correct.ts";
import { listRevisions } from "../../src/corrections/queries.ts";
import { TRANSCRIPTS_PREFIX } from "../../src/storage/transcript-files.ts";
import { findTranscriptionByVideo } from "../../src/transcription/queries.ts";
import { seedTranscript } from "../support/seed-transcript.ts";
import { createTenant, MovableClock, shareService } from "../support/service.ts";

const clock = new MovableClock();
const subtext = shareService({ start: false, clock });

test("a save that is cut off before its commit changes nothing, leaves no file, and can be repeated", async () => {
  const { environmentId } = await createTenant(subtext, { clock });
  const { parts } = subtext.service;
  const { transcripts, queue, recordings, ownership, log } = parts;
  const db = parts.database.kysely;
  const seed = { environmentId, language: "en", text: "Hello wold again." };
  const { videoId, transcriptionId } = await seedTranscript(subtext.service, seed);
  const read = async () => (await findTranscriptionByVideo(db, videoId))!;
  const wordsOf = async () => (await readCurrentWords(transcripts, await read())).map(({ word }) => word);
  const storedFiles = () => Array.fromAsync(transcripts.list(`${TRANSCRIPTS_PREFIX}${transcriptionId}/`));
  const original = await storedFiles();
  const prepare = async () => {
    const row = await read();
    const words = await readCurrentWords(transcripts, row);
    const change = { words: words.with(1, { ...words[1]!, word: "world" }) };
    const correction = { ifMatch: '"0.0"', actor: SERVICE, actorName: null };
    return await prepareCorrection({ db, queue, clock, transcripts }, row, change, correction);
  };

  const crash = new Error("the process was killed");
  const cutOff = await prepare();
  const killed = db.transaction().execute(async (tx) => {
    await cutOff.commit(tx);
    throw crash;
  });
  await expect(killed).rejects.toBe(crash);
  expect((await storedFiles()).length).toBeGreaterThan(original.length);
  expect(await wordsOf()).toEqual(["Hello", "wold", "again."]);
  expect(await listRevisions(db, transcriptionId)).toEqual([]);

  const repeated = await prepare();
  await db.transaction().execute((tx) => repeated.commit(tx));
  expect(await wordsOf()).toEqual(["Hello", "world", "again."]);

  clock.advance(2 * 3_600_000);
  await sweepStoredFiles(
    { db, recordings, transcripts, ownership, clock, log },
    new AbortController().signal,
  );
  const { edited_prefix } = await read();
  const left = (await storedFiles()).filter((key) => !original.includes(key));
  expect(left.length).toBeGreaterThan(0);
  expect(left.filter((key) => !key.startsWith(`${edited_prefix}/`))).toEqual([]);
  expect(await wordsOf()).toEqual(["Hello", "world", "again."]);
});
