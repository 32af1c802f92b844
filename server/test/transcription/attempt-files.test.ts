import { text } from "node:stream/consumers";
import { SpeechError } from "@subtext/speech/errors";
import type { Transcript } from "@subtext/speech/transcript";
import { describe, expect, test } from "vitest";
import { sweep } from "../../src/cleanup/sweep.ts";
import { readWords } from "../../src/corrections/words-file.ts";
import { reprocess } from "../../src/transcription/reprocess.ts";
import { FAKE_TRANSCRIPT } from "../support/fake-transcript.ts";
import { type FakeRecognition, type PendingTranscription, shareAttempts } from "./share-attempts.ts";

const attempts = shareAttempts();
const { service, pendingTranscription } = attempts;

describe("an attempt", () => {
  test("keeps the files that it is writing during a sweep", async () => {
    const { run, files, recordings, db } = await pendingTranscription();
    const { queue, clock, log, ownership } = service.service.parts;
    const deps = {
      db,
      queue,
      clock,
      log,
      recordings,
      transcripts: attempts.transcripts,
      ownership,
      uploadExpiryMs: 3_600_000,
    };
    const { transcripts } = attempts;
    const put = transcripts.put;
    transcripts.put = async (key, content) => {
      await put(key, content);
      await sweep(deps, { full: true, signal: new AbortController().signal });
    };
    try {
      expect(await run(async () => FAKE_TRANSCRIPT)).toMatchObject({ status: "COMPLETED" });
    } finally {
      transcripts.put = put;
    }
    expect(await files()).toHaveLength(4);
  });

  test("stores the channels of the words of a call, which the three files do not contain", async () => {
    const { run, files, read } = await pendingTranscription();
    const words: Transcript["words"] = [
      { word: "Hello?", start: 0, end: 0.5, confidence: 1, channel: 1 },
      { word: "Hi.", start: 0.5, end: 0.9, confidence: 1, channel: 2 },
    ];
    expect(await run(async () => ({ ...FAKE_TRANSCRIPT, words }))).toMatchObject({ status: "COMPLETED" });
    const stored = await readWords(attempts.transcripts, (await read()).file_prefix!);
    expect(stored.map(({ word, channel }) => [word, channel])).toEqual([
      ["Hello?", 1],
      ["Hi.", 2],
    ]);
    const keys = await files();
    expect(keys).toHaveLength(5);
    for (const key of keys.filter((each) => /transcript\.\w+$/.test(each)))
      expect(await text(await attempts.transcripts.read(key))).not.toMatch(/channel|<v/i);
  });
});

describe("the waveform of a recording", () => {
  const WAVEFORM = { duration: 1, whole: true, peaksPerSecond: 10, peaks: "AAAAAAAAAAAAAA==", speech: [] };
  const names = (keys: string[]) => keys.map((key) => key.split("/").slice(-2).join("/"));
  const decodedThen =
    (then: FakeRecognition): FakeRecognition =>
    async (options) => {
      options.onWaveform?.(WAVEFORM);
      return await then(options);
    };
  const unsupported = decodedThen(() =>
    Promise.reject(new SpeechError("language_unsupported", "Not English.")),
  );

  async function sweptFiles(pending: PendingTranscription): Promise<string[]> {
    const { queue, clock, log, ownership } = service.service.parts;
    const { db, recordings, files } = pending;
    const deps = {
      db,
      queue,
      clock,
      log,
      recordings,
      transcripts: attempts.transcripts,
      ownership,
      uploadExpiryMs: 3_600_000,
    };
    await sweep(deps, { full: true, signal: new AbortController().signal });
    return names(await files());
  }

  test("is kept if the transcription fails, also by the sweep, until another attempt has its own", async () => {
    const pending = await pendingTranscription();
    const { run, detail, db, read } = pending;
    const { queue, clock } = service.service.parts;
    const swept = () => sweptFiles(pending);
    expect(await run(unsupported)).toMatchObject({ status: "FAILED" });
    expect(await swept()).toEqual(["1/waveform.json"]);
    const steps = (await detail()).timeline.map(({ step }) => step);
    expect(steps).toEqual(["uploaded", "queued", "started", "decoded", "failed"]);

    await reprocess({ db, queue, clock }, (await read()).id);
    expect(await swept()).toEqual(["1/waveform.json"]);
    await run(decodedThen(async () => FAKE_TRANSCRIPT));
    expect((await swept()).filter((name) => name.endsWith("waveform.json"))).toEqual(["2/waveform.json"]);
  });

  test("is absent while a retry is due, and the transcription succeeds even if it cannot be stored", async () => {
    const { run, files, read } = await pendingTranscription();
    await run(decodedThen(() => Promise.reject(new SpeechError("engine_crashed", "It ended."))));
    expect(await files()).toEqual([]);
    const { transcripts } = attempts;
    const put = transcripts.put;
    transcripts.put = async (key, content) => {
      if (key.endsWith("waveform.json")) throw new Error("The disk is full.");
      await put(key, content);
    };
    try {
      await run(decodedThen(async () => FAKE_TRANSCRIPT));
    } finally {
      transcripts.put = put;
    }
    expect(await read()).toMatchObject({ status: "COMPLETED", waveform_prefix: null });
  });

  test("whose stored file was not confirmed is swept, but not the files beside it", async () => {
    const pending = await pendingTranscription();
    const { transcripts } = attempts;
    const put = transcripts.put;
    transcripts.put = async (key, content) => {
      await put(key, content);
      if (key.endsWith("waveform.json")) throw new Error("The answer was lost.");
    };
    try {
      await pending.run(decodedThen(async () => FAKE_TRANSCRIPT));
    } finally {
      transcripts.put = put;
    }
    expect(await pending.read()).toMatchObject({ status: "COMPLETED", waveform_prefix: null });
    const before = names(await pending.files());
    expect(before).toContain("1/waveform.json");
    expect(await sweptFiles(pending)).toEqual(before.filter((name) => name !== "1/waveform.json"));
  });
});
