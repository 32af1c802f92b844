import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine, RecognitionResult } from "../../../src/engines/engine.ts";
import { openWhisper } from "../../../src/engines/whisper/whisper.ts";
import type { Utterance } from "../../../src/vad/utterances.ts";
import { tinyWhisperModel } from "../../support/language-recordings.ts";
import { compareWords, plainWords, quantile } from "../../support/spoken.ts";

/** Speech that the tiny Whisper model was not trained on, with what is said in it when. */
interface Clip {
  name: string;
  /** Null where nobody speaks. */
  lang: string | null;
  text: string;
  words: { word: string; start: number; end: number; measured: boolean }[];
}

const folder = fileURLToPath(new URL("../../tiny-whisper/fixtures/", import.meta.url));
const clips = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file): Clip => {
    const said = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return { name: file.slice(0, -".json".length), ...said };
  });
const spokenClips = clips.filter(({ lang }) => lang !== null);

function utteranceOf({ name }: Clip, start = 0): Utterance {
  const file = readFileSync(join(folder, `${name}.wav`));
  const pcm = file.subarray(file.indexOf("data") + 8);
  const samples = Float32Array.from({ length: pcm.length >> 1 }, (_, i) => pcm.readInt16LE(2 * i) / 32_768);
  return { samples, start };
}

const { signal } = new AbortController();
let engine: Engine;
let results: RecognitionResult[];

beforeAll(async () => {
  engine = await openWhisper({ folder: tinyWhisperModel, threads: 2 });
  results = await engine.recognize(
    spokenClips.map((clip, index) => utteranceOf(clip, 100 * index)),
    { signal },
  );
});

afterAll(() => engine.close());

const textOf = (result: RecognitionResult | undefined) => result?.words.map(({ word }) => word).join(" ");

test("detects the language and transcribes what is said in it", () => {
  for (const [index, { lang, text }] of spokenClips.entries()) {
    expect([results[index]?.language, textOf(results[index])]).toEqual([lang, text]);
  }
  expect(new Set(results.map(({ language }) => language))).toEqual(new Set(["es", "pt", "en", "fr"]));
});

function timeErrors(recognized: readonly RecognitionResult[]) {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const [index, { words }] of spokenClips.entries()) {
    const plain = ({ word }: { word: string }) => plainWords(word).join("");
    const found = recognized[index]?.words ?? [];
    for (const [i, j] of compareWords(words.map(plain), found.map(plain)).agreeing) {
      const [said, times] = [words[i], found[j]];
      if (!said?.measured || !times) continue;
      starts.push(Math.abs(times.start - 100 * index - said.start));
      ends.push(Math.abs(times.end - 100 * index - said.end));
    }
  }
  return { starts, ends };
}

test("places words where they are said", () => {
  const { starts, ends } = timeErrors(results);
  expect(starts.length).toBeGreaterThan(70);
  expect(quantile(starts, 0.9)).toBeLessThanOrEqual(0.025);
  expect(quantile(ends, 0.9)).toBeLessThanOrEqual(0.025);
});

test("returns no words if nobody speaks", async () => {
  const silent = clips.filter(({ lang }) => lang === null);
  expect(silent.length).toBeGreaterThan(0);
  const utterances = [
    ...silent.map((clip) => utteranceOf(clip)),
    ...[0, 1, 400, 16_000].map((length) => ({ samples: new Float32Array(length), start: 0 })),
  ];
  const recognized = await engine.recognize(utterances, { signal });
  expect(recognized.map(({ words }) => words)).toEqual(utterances.map(() => []));
});

test("reports how likely each language is, before it transcribes", async () => {
  const detected = await engine.detectLanguages?.(
    spokenClips.map((clip) => utteranceOf(clip)),
    signal,
  );
  for (const [index, { lang }] of spokenClips.entries()) {
    const ranked = [...(detected?.[index] ?? [])].toSorted(([, a], [, b]) => b - a);
    expect(ranked[0]?.[0]).toBe(lang);
    expect(ranked.reduce((sum, [, probability]) => sum + probability, 0)).toBeCloseTo(1);
  }
});

test("transcribes the same alone, in a batch and once more", async () => {
  const utterance = utteranceOf(spokenClips[0] as Clip);
  await engine.detectLanguages?.([utterance], signal);
  const [once] = await engine.recognize([utterance], { signal });
  const [again] = await engine.recognize([utterance], { signal });
  expect(again).toEqual(once);
  expect(textOf(once)).toBe(textOf(results[0]));
});

test("stops when it is aborted", async () => {
  const controller = new AbortController();
  const recognized = engine.recognize([utteranceOf(spokenClips[0] as Clip)], { signal: controller.signal });
  controller.abort(new Error("no longer wanted"));
  await expect(recognized).rejects.toThrow("no longer wanted");
});

describe("a model that is laid out otherwise", () => {
  let copy: string;

  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), "subtext-whisper-"));
    await cp(tinyWhisperModel, copy, { recursive: true });
  });

  afterAll(() => rm(copy, { recursive: true }));

  test("finds itself the heads that follow time, if its files do not state them", async () => {
    const path = join(copy, "generation_config.json");
    const { alignment_heads: _, ...unstated } = JSON.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON.stringify(unstated));
    const other = await openWhisper({ folder: copy, threads: 2 });
    const recognized = await other.recognize(
      spokenClips.map((clip, index) => utteranceOf(clip, 100 * index)),
      { signal },
    );
    await other.close();
    expect(quantile(timeErrors(recognized).starts, 0.9)).toBeLessThanOrEqual(0.025);
  });

  test("finds the weights that lie beside its graphs", async () => {
    for (const name of ["encoder_model", "decoder_model_merged"]) {
      const path = join(copy, `${name}.onnx`);
      const { model, weights } = weightsOutside(await readFile(path), `${name}.onnx_data`);
      expect(weights.length).toBeGreaterThan(model.length);
      await writeFile(path, model);
      await writeFile(join(copy, `${name}.onnx_data`), weights);
    }
    const other = await openWhisper({ folder: copy, threads: 2 });
    const [recognized] = await other.recognize([utteranceOf(spokenClips[0] as Clip)], { signal });
    await other.close();
    expect(textOf(recognized)).toBe(textOf(results[0]));
  });
});

/** A model with its larger weights in a file of their own, as exports beyond 2 GB have them. */
function weightsOutside(model: Uint8Array, location: string) {
  const [graphField, initializerField, rawDataField, externalDataField, dataLocationField] = [
    7, 5, 9, 13, 14,
  ];
  const weights: Uint8Array[] = [];
  let offset = 0;
  const edit = (message: Uint8Array, field: number, change: (content: Uint8Array) => Uint8Array | null) => {
    const reader = new BinaryReader(message);
    const writer = new BinaryWriter();
    while (reader.pos < reader.len) {
      const from = reader.pos;
      const [number, type] = reader.tag();
      const content = number === field && type === WireType.LengthDelimited ? reader.bytes() : null;
      if (!content) {
        reader.skip(type, number);
        writer.raw(message.subarray(from, reader.pos));
        continue;
      }
      const changed = change(content);
      if (changed) writer.tag(number, type).bytes(changed);
    }
    return writer;
  };
  const moveOut = (tensor: Uint8Array): Uint8Array => {
    let length = 0;
    const writer = edit(tensor, rawDataField, (bytes) => {
      if (bytes.length < 1024) return bytes;
      weights.push(bytes);
      length = bytes.length;
      return null;
    });
    if (length > 0) {
      for (const [key, value] of Object.entries({ location, offset, length })) {
        writer.tag(externalDataField, WireType.LengthDelimited).fork();
        writer.tag(1, WireType.LengthDelimited).string(key);
        writer.tag(2, WireType.LengthDelimited).string(String(value)).join();
      }
      writer.tag(dataLocationField, WireType.Varint).int32(1);
      offset += length;
    }
    return writer.finish();
  };
  return {
    model: edit(model, graphField, (graph) => edit(graph, initializerField, moveOut).finish()).finish(),
    weights: Buffer.concat(weights),
  };
}
