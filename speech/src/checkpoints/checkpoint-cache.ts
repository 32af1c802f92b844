import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Engine, RecognizeOptions } from "../engines/engine.ts";
import { SAMPLE_RATE } from "../media/audio.ts";
import type { Engines } from "../recognition/recognizer.ts";
import type { Channel } from "../transcript.ts";
import type { Utterance } from "../vad/utterances.ts";
import { WINDOW_SAMPLES } from "../vad/voice-activity.ts";
import { type Checkpoint, type ModelResults, parseResults, serializeResults } from "./checkpoint.ts";

type Score = (samples: Float32Array, preceding: Float32Array) => Promise<Float32Array>;
type Kind = "recognitions" | "languages";
type ResultOf<K extends Kind> = ModelResults[K][number][1];

/**
 * Caches the models' results for one recording. The words depend only on the samples and these results, so a resumed
 * transcription produces the same words, and no other state needs to be saved. Each key identifies what its result depends
 * on: a checksum of the samples and, for engines, the engine's name and any requested language and vocabulary.
 */
export class CheckpointCache {
  /** Seconds of the media up to which the words are final. */
  readonly settledSeconds: number;
  readonly #speech: Map<string, Float32Array>;
  readonly #recognitions: Map<string, ResultOf<"recognitions">>;
  readonly #languages: Map<string, ResultOf<"languages">>;
  readonly #recordsNew: boolean;
  #new = noResults();

  /**
   * @param checkpoints from earlier attempts at the same recording
   * @param recordsNew whether to keep new results for `takeCheckpoint`
   */
  constructor(checkpoints: readonly Checkpoint[], { recordsNew }: { recordsNew: boolean }) {
    this.#recordsNew = recordsNew;
    const readable = checkpoints.flatMap(({ settledSeconds, results }) => {
      const parsed = parseResults(results);
      return parsed === null ? [] : [{ settledSeconds, ...parsed }];
    });
    this.settledSeconds = Math.max(0, ...readable.map(({ settledSeconds }) => settledSeconds));
    this.#speech = new Map(readable.flatMap(({ speech }) => speech));
    this.#recognitions = new Map(readable.flatMap(({ recognitions }) => recognitions));
    this.#languages = new Map(readable.flatMap(({ languages }) => languages));
  }

  /**
   * Wraps voice activity detection. Call the returned function once for each block, in order.
   * @param channel of the blocks; undefined if the channels are mixed
   */
  wrapScore(score: Score, channel?: Channel): Score {
    let blocks = 0;
    return async (samples, preceding) => {
      const block = `${blocks++} ${checksum(samples)}`;
      const key = channel === undefined ? block : `${channel}:${block}`;
      const cached = take(this.#speech, key);
      if (cached?.length === samples.length / WINDOW_SAMPLES) return cached;
      const probabilities = await score(samples, preceding);
      if (this.#recordsNew) this.#new.speech.push([key, probabilities]);
      return probabilities;
    };
  }

  /** Wraps the engines so that they compute only missing results. */
  wrapEngines({ bundled, multilingual, ...engines }: Engines): Engines {
    return {
      ...engines,
      bundled: bundled && this.#engine(bundled),
      multilingual: multilingual && this.#engine(multilingual),
    };
  }

  /** Returns the results since the last call; null if there are none. */
  takeCheckpoint(settledSeconds: number): Checkpoint | null {
    const results = this.#new;
    if (Object.values(results).every(({ length }) => length === 0)) return null;
    this.#new = noResults();
    return { settledSeconds, results: serializeResults(results) };
  }

  #engine(engine: Engine): Engine {
    const { name, languages, maxUtteranceSeconds, warnings } = engine;
    return {
      name,
      languages,
      maxUtteranceSeconds,
      ...(warnings && { warnings }),
      recognize: (utterances, options) => this.#recognize(engine, utterances, options),
      ...(engine.detectLanguages && {
        detectLanguages: (utterances, signal) => this.#detect(engine, utterances, signal),
      }),
      close: () => engine.close(),
    };
  }

  #recognize(engine: Engine, utterances: readonly Utterance[], options: RecognizeOptions) {
    const { languages, vocabulary = [] } = options;
    const terms = vocabulary.length === 0 ? "" : ` ${hashOf(vocabulary)}`;
    const keys = utterances.map(
      (utterance, index) => `${keyOf(engine, utterance)} ${languages?.[index] ?? ""}${terms}`,
    );
    return this.#cached("recognitions", keys, this.#recognitions, (indexes) =>
      engine.recognize(
        indexes.map((index) => utterances[index]!),
        { ...options, ...(languages && { languages: indexes.map((index) => languages[index] ?? null) }) },
      ),
    );
  }

  #detect(engine: Engine, utterances: readonly Utterance[], signal: AbortSignal) {
    const keys = utterances.map((utterance) => keyOf(engine, utterance));
    return this.#cached("languages", keys, this.#languages, (indexes) =>
      engine.detectLanguages!(
        indexes.map((index) => utterances[index]!),
        signal,
      ),
    );
  }

  /** Computes all missing results in one batch. */
  async #cached<K extends Kind>(
    kind: K,
    keys: readonly string[],
    cache: Map<string, ResultOf<K>>,
    compute: (indexes: readonly number[]) => Promise<ResultOf<K>[]>,
  ): Promise<ResultOf<K>[]> {
    const results = keys.map((key) => take(cache, key));
    const missing = [...results.keys()].filter((index) => results[index] === undefined);
    const computed = missing.length === 0 ? [] : await compute(missing);
    for (const [position, index] of missing.entries()) {
      const result = computed[position]!;
      results[index] = result;
      if (this.#recordsNew) (this.#new[kind] as [string, ResultOf<K>][]).push([keys[index]!, result]);
    }
    return results as ResultOf<K>[];
  }
}

function noResults(): ModelResults {
  return { speech: [], recognitions: [], languages: [] };
}

function keyOf({ name }: Engine, { start, samples, channel }: Utterance): string {
  const place = `${name} ${Math.round(start * SAMPLE_RATE)} ${samples.length} ${checksum(samples)}`;
  return channel === undefined ? place : `${place} channel ${channel}`;
}

function checksum({ buffer, byteOffset, byteLength }: Float32Array): number {
  return crc32(new Uint8Array(buffer, byteOffset, byteLength));
}

function hashOf(vocabulary: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(vocabulary)).digest("base64url");
}

/** Removes the entry to free its memory: each is needed only once. */
function take<Key, Result>(cache: Map<Key, Result>, key: Key): Result | undefined {
  const result = cache.get(key);
  cache.delete(key);
  return result;
}
