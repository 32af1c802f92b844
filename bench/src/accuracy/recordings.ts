import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, parse } from "node:path";
import { mean } from "@subtext/speech/alignment/timed-words";
import { compareWords, plainWords } from "../../../speech/test/support/spoken.ts";
import type { FigureTable } from "../figures.ts";
import { printTable } from "../table.ts";
import { TALLY_HEAD, Tally } from "./scores.ts";
import { amplified, type Clip, joinClips, type SpokenWord } from "./synthetic-speech.ts";
import type { RecognizedSpeech, Transcriber } from "./transcriber.ts";

const JFK =
  "and so my fellow americans ask not what your country can do for you ask what you can do for your country";
/**
 * The bundled engine's words change with the position of the same speech in the file, so one run is a random draw. The
 * offsets are not multiples of a frame of voice activity detection or of the encoder.
 */
const OFFSET_SECONDS = 0.0171;
const OFFSETS = 10;
const NOISES_DB = [20, 10, 5];
const LEVEL_OFFSETS = 4;
const LEVELS_DB = [0, -10, -20, -30, -40, -50];

export async function measureRecordings(
  transcriber: Transcriber,
  audio: string,
  quick: boolean,
): Promise<void> {
  const rows: string[][] = [];
  const levelRows: string[][] = [];
  for (const name of ["jfk.wav", "lucier.mp3"]) {
    const path = join(audio, name);
    if (!existsSync(path)) continue;
    const samples = await transcriber.decode(path);
    const spoken = plainWords(references(audio).get(parse(name).name) ?? "");
    const rates = (sound: Float32Array) => ratesAtOffsets(transcriber, sound, spoken, OFFSETS);
    rows.push([name, String(spoken.length), ...summary(await rates(samples))]);
    if (quick) continue;
    for (const decibels of NOISES_DB) {
      const noisy = await rates(await transcriber.withNoise(path, decibels));
      rows.push([`${name}, noise ${decibels} dB`, String(spoken.length), ...summary(noisy)]);
    }
    const levels: string[] = [];
    for (const level of LEVELS_DB) {
      levels.push(
        mean(await ratesAtOffsets(transcriber, amplified(samples, level), spoken, LEVEL_OFFSETS)).toFixed(3),
      );
    }
    levelRows.push([name, ...levels]);
  }
  if (rows.length > 0)
    printTable(
      `Recordings, bundled engine, each at ${OFFSETS} positions in the file (target: jfk 0, lucier ≤ 0.08)`,
      ["recording", "words", "mean WER", "lowest", "highest"],
      rows,
    );
  if (levelRows.length > 0)
    printTable(
      `WER by level, bundled engine, each at ${LEVEL_OFFSETS} positions in the file`,
      ["recording", ...LEVELS_DB.map((level) => `${level} dB`)],
      levelRows,
    );
  await measureAlignedRecordings(transcriber, audio);
}

async function ratesAtOffsets(
  transcriber: Transcriber,
  samples: Float32Array,
  spoken: readonly string[],
  offsets: number,
): Promise<number[]> {
  const rates: number[] = [];
  for (const shifted of atOffsets({ samples, words: [] }, offsets)) {
    rates.push(wordErrorRate(spoken, await transcriber.recognize(shifted.samples)));
  }
  return rates;
}

function atOffsets(clip: Clip, count: number): Clip[] {
  return Array.from({ length: count }, (_, index) => joinClips([index * OFFSET_SECONDS, clip]));
}

function summary(rates: readonly number[]): string[] {
  return [mean(rates), Math.min(...rates), Math.max(...rates)].map((rate) => rate.toFixed(3));
}

function wordErrorRate(spoken: readonly string[], { words }: RecognizedSpeech): number {
  return compareWords(
    spoken,
    words.flatMap(({ word }) => plainWords(word)),
  ).errorRate;
}

async function measureAlignedRecordings(transcriber: Transcriber, audio: string): Promise<void> {
  const aligned = alignedRecordings(audio);
  const all = new Tally();
  const rows: string[][] = [];
  for (const { name, path, words } of aligned) {
    const samples = await transcriber.decode(path);
    const tally = new Tally();
    const between = new Tally();
    for (const shifted of atOffsets({ samples, words }, OFFSETS)) {
      const { words: recognized } = await transcriber.recognize(shifted.samples);
      tally.add(shifted.words, recognized);
      between.addBetweenRecognized(shifted.words, recognized);
    }
    all.merge(tally);
    rows.push([name, ...tally.row()]);
    const [clips = "", count = "", , ...times] = between.row();
    rows.push([`${name}, between recognized words`, clips, count, "–", ...times]);
  }
  if (aligned.length > 1) rows.push(["all", ...all.row()]);
  if (rows.length > 0)
    printTable(
      `Real speech with aligned word boundaries, bundled engine, at ${OFFSETS} positions in the file (target: start median ≤ 35 ms, p90 ≤ 100 ms)`,
      ["speech", ...TALLY_HEAD],
      rows,
    );
}

/** Kinds of real audio, by the beginning of the file's name. */
const KINDS: readonly [kind: string, spoken: string, prefixes: readonly string[]][] = [
  ["telephone, 8 kHz", "en", ["ibm-en-GB_Narrowband"]],
  ["broadband", "en", ["ibm-en-US_Broadband"]],
  ["old public address", "en", ["jfk"]],
  ["in a room, old tape", "en", ["lucier"]],
  ["casual, fast and slow", "en", ["mfa-acoustic_corpus"]],
  ["short read sentence", "en", ["sb-spk1"]],
  ["creaky voice", "en", ["mfa-mfa_creaky"]],
  ["whisper", "en", ["mfa-mfa_whisper"]],
  ["telephone, 8 kHz", "nl", ["ibm-dutch"]],
  ["telephone, 8 kHz", "fr", ["ibm-fr-FR_Narrowband"]],
  ["telephone, 8 kHz", "pt", ["ibm-pt-BR"]],
  ["telephone, 8 kHz", "ja", ["ibm-sample-Ja"]],
  ["telephone, 8 kHz", "zh", ["ibm-zh-CN"]],
  ["broadband", "es", ["ibm-es-ES_Broadband"]],
  ["broadband", "fr", ["smartphone", "bonjour"]],
  ["broadband", "ja", ["japanese"]],
  ["noise", "none", ["sb-noise"]],
  ["laughter", "none", ["laugh"]],
  ["digital silence", "none", ["empty"]],
];
const REAL_TITLE = "Real recordings by kind, bundled engine";

/** @param previous the tables of an earlier run, to which the results are compared */
export async function measureRealRecordings(
  transcriber: Transcriber,
  audio: string,
  previous: readonly FigureTable[],
): Promise<void> {
  const texts = references(audio);
  const before = previous.find(({ title }) => title.startsWith(REAL_TITLE));
  const rows: string[][] = [];
  const worse: string[] = [];
  for (const [kind, language, prefixes] of KINDS) {
    for (const file of audioFiles(audio)) {
      const { base: name } = parse(file);
      if (!prefixes.some((prefix) => name.startsWith(prefix))) continue;
      const recognized = await transcriber.transcribeFile(join(audio, file));
      const text = texts.get(parse(file).name);
      const result = {
        outcome: outcomeOf(recognized),
        words: String(recognized.words.length),
        rate: text === undefined ? "" : wordErrorRate(plainWords(text), recognized).toFixed(3),
      };
      const earlier = before && earlierResult(before, name);
      if (earlier && isWorse(language, result, earlier)) worse.push(name);
      rows.push([
        kind,
        name,
        language,
        result.outcome,
        result.words,
        result.rate,
        earlier ? [earlier.outcome, `${earlier.words} words`, earlier.rate].filter(Boolean).join(", ") : "",
      ]);
    }
  }
  const comparison = worse.length === 0 ? "no clip is worse" : `worse: ${worse.join(", ")}`;
  if (rows.length > 0)
    printTable(
      before ? `${REAL_TITLE} (compared with the previous version, ${comparison})` : REAL_TITLE,
      ["kind", "recording", "spoken", "outcome", "words", "WER", "previous version"],
      rows,
    );
}

interface ClipResult {
  outcome: string;
  words: string;
  /** Empty without a reference text. */
  rate: string;
}

function outcomeOf({ language, failure }: RecognizedSpeech): string {
  return failure === null ? language : `FAILED ${failure}`;
}

/** Reads a row that `measureRealRecordings` printed. */
function earlierResult({ head, rows }: FigureTable, name: string): ClipResult | null {
  const row = rows.find((cells) => cells[head.indexOf("recording")] === name);
  const cell = (column: string) => row?.[head.indexOf(column)] ?? "";
  return row ? { outcome: cell("outcome"), words: cell("words"), rate: cell("WER") } : null;
}

/** English is worse with more errors or, without a reference, with fewer words. Anything else is worse with more words. */
function isWorse(spoken: string, result: ClipResult, earlier: ClipResult): boolean {
  if (spoken !== "en") return Number(result.words) > Number(earlier.words);
  if (result.rate !== "") return Number(result.rate) > Number(earlier.rate);
  return Number(result.words) < Number(earlier.words);
}

function audioFiles(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return files.filter((file) => /\.(?:wav|mp3|ogg)$/.test(file));
}

/** Returns reference texts by name: text files next to recordings, and the tables of README files. */
function references(folder: string): Map<string, string> {
  const texts = new Map([["jfk", JFK]]);
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const { name, ext, base } = parse(file);
    if (ext !== ".txt" && base !== "README.md") continue;
    const text = readFileSync(join(folder, file), "utf8");
    if (ext === ".txt") texts.set(name, text);
    else
      for (const [, recording = "", spoken = ""] of text.matchAll(/^\| ([\w-]+) \| (.+) \|$/gm))
        texts.set(recording, spoken);
  }
  return texts;
}

/** A recording of real speech with aligned word boundaries. */
interface AlignedRecording {
  name: string;
  path: string;
  words: SpokenWord[];
}

/** Finds recordings next to a Praat TextGrid of the same name, in the folder and its subfolders. */
function alignedRecordings(folder: string): AlignedRecording[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return files
    .filter((file) => file.endsWith(".TextGrid"))
    .flatMap((file) => {
      const { dir, name } = parse(file);
      const audio = files.find(
        (other) => other !== file && parse(other).dir === dir && parse(other).name === name,
      );
      if (audio === undefined) return [];
      return [{ name, path: join(folder, audio), words: wordTier(readFileSync(join(folder, file), "utf8")) }];
    });
}

/**
 * Returns the intervals with text of the tier `words`.
 * @param text in Praat's long or short text format
 */
function wordTier(text: string): SpokenWord[] {
  const values = text.replaceAll(/\[\d*\]/g, "").match(/"(?:[^"]|"")*"|\d+(?:\.\d+)?/g) ?? [];
  // After the name of the tier: its start, its end, the number of intervals, and for each interval start, end and text.
  const intervals = values.slice(values.findIndex((value) => value.toLowerCase() === '"words"') + 3);
  return Array.from({ length: Number(intervals[0]) }, (_, index) => intervals.slice(3 * index + 1)).flatMap(
    ([start, end, quoted = ""]) => {
      const word = quoted.slice(1, -1).trim();
      return word === "" ? [] : [{ word, start: Number(start), end: Number(end) }];
    },
  );
}
