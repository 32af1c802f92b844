import type { WorkerLayout } from "../engines/definition.ts";
import type {
  Engine,
  LanguageProbabilities,
  RecognitionResult,
  RecognizeOptions,
} from "../engines/engine.ts";
import type { Utterance } from "../vad/utterances.ts";
import { ModelWorker } from "./model-worker.ts";
import type { SentUtterance, WorkerEngineDescription, WorkerSpec } from "./worker-messages.ts";

/** Utterances that a worker caches between language detection and recognition. Each takes about 5 MB. */
const CACHED_UTTERANCES = 32;

/**
 * Opens an engine that runs in one or more worker threads, each with its own copy of the model. Resolves when the first
 * worker is ready. The others are opened in the background, because a short recording needs only one.
 * @param prepared the result of the engine's `prepare`; null if it has none
 * @throws SpeechError
 */
export async function openWorkerEngine(
  part: WorkerSpec,
  { count, dividesBatches }: WorkerLayout,
  prepared: Promise<unknown> | null,
): Promise<Engine> {
  const first = await ModelWorker.open(part, prepared);
  const { description } = first;
  if (description === null) throw new Error(`${part.kind} is not an engine`);
  const others = dividesBatches
    ? Array.from({ length: count - 1 }, () => ModelWorker.open(part, prepared))
    : null;
  return new WorkerEngine(first, others, description);
}

/** Identifies an utterance that a worker has cached. */
interface CacheEntry {
  worker: ModelWorker;
  id: number;
}

class WorkerEngine implements Engine {
  readonly name: string;
  readonly languages: readonly string[];
  readonly maxUtteranceSeconds: number;
  readonly warnings: readonly string[];
  readonly detectLanguages?: NonNullable<Engine["detectLanguages"]>;
  readonly #first: ModelWorker;
  /** Null if batches are not divided. */
  readonly #opening: readonly Promise<ModelWorker>[] | null;
  readonly #entries = new WeakMap<Utterance, CacheEntry>();
  readonly #cached = new Map<ModelWorker, { id: number; utterance: WeakRef<Utterance> }[]>();
  #lastUtterance = 0;

  constructor(
    first: ModelWorker,
    others: readonly Promise<ModelWorker>[] | null,
    description: WorkerEngineDescription,
  ) {
    this.#first = first;
    this.#opening = others;
    // `#openedWorkers` reports a failure.
    for (const other of others ?? []) other.catch(() => {});
    this.name = description.name;
    this.languages = description.languages;
    this.maxUtteranceSeconds = description.maxUtteranceSeconds;
    this.warnings = description.warnings;
    if (description.detectsLanguages) {
      this.detectLanguages = (utterances, signal) => this.#detect(utterances, signal);
    }
  }

  async recognize(
    utterances: readonly Utterance[],
    { signal, languages, vocabulary = [] }: RecognizeOptions,
  ): Promise<RecognitionResult[]> {
    return await this.#distribute(utterances, signal, async (worker, indexes, workerSignal) => {
      const call = {
        method: "recognize" as const,
        utterances: indexes.map((index) => this.#toSend(utterances[index]!, worker)),
        languages: languages ? indexes.map((index) => languages[index] ?? null) : null,
        vocabulary,
      };
      const results = await worker.call(call, workerSignal);
      this.#forget(
        worker,
        indexes.map((index) => utterances[index]!),
      );
      return results;
    });
  }

  async #detect(utterances: readonly Utterance[], signal: AbortSignal): Promise<LanguageProbabilities[]> {
    return await this.#distribute(utterances, signal, async (worker, indexes, workerSignal) => {
      const sent = indexes.map((index) => this.#toSend(utterances[index]!, worker));
      const detected = await worker.call({ method: "detectLanguages", utterances: sent }, workerSignal);
      this.#cache(
        worker,
        indexes.map((index, position) => ({ utterance: utterances[index]!, id: sent[position]!.id })),
      );
      return detected;
    });
  }

  async close(): Promise<void> {
    const others = await Promise.allSettled(this.#opening ?? []);
    const opened = others.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    await Promise.all([this.#first, ...opened].map((worker) => worker.close()));
  }

  /**
   * Distributes utterances over the workers, in parts that do not depend on the number of workers, because the result of
   * an utterance depends slightly on the others in its batch. If a worker fails, the others are stopped and awaited.
   */
  async #distribute<Result>(
    utterances: readonly Utterance[],
    signal: AbortSignal,
    work: (worker: ModelWorker, indexes: readonly number[], signal: AbortSignal) => Promise<Result[]>,
  ): Promise<Result[]> {
    const parts = this.#opening === null ? [[...utterances.keys()]] : divide(utterances);
    const workers = parts.length > 1 ? await this.#openedWorkers() : [this.#first];
    const results: Result[] = [];
    const failed = new AbortController();
    const workerSignal = AbortSignal.any([signal, failed.signal]);
    const outcomes = await Promise.allSettled(
      workers.map(async (worker, number) => {
        try {
          for (const indexes of parts.filter((_, part) => part % workers.length === number)) {
            const partResults = await work(worker, indexes, workerSignal);
            for (const [position, index] of indexes.entries()) results[index] = partResults[position]!;
          }
        } catch (error) {
          failed.abort(error);
          throw error;
        }
      }),
    );
    signal.throwIfAborted();
    if (failed.signal.aborted) throw failed.signal.reason;
    if (outcomes.some(({ status }) => status === "rejected")) throw new Error("unreachable");
    return results;
  }

  async #openedWorkers(): Promise<ModelWorker[]> {
    return [this.#first, ...(await Promise.all(this.#opening ?? []))];
  }

  #toSend(utterance: Utterance, worker: ModelWorker): SentUtterance {
    const entry = this.#entries.get(utterance);
    if (entry?.worker === worker) return { id: entry.id, start: utterance.start, samples: null };
    this.#lastUtterance += 1;
    return { id: this.#lastUtterance, start: utterance.start, samples: utterance.samples.slice() };
  }

  #cache(worker: ModelWorker, utterances: readonly { utterance: Utterance; id: number }[]): void {
    const cached = this.#cached.get(worker) ?? [];
    this.#cached.set(worker, cached);
    for (const { utterance, id } of utterances) {
      if (this.#entries.has(utterance)) continue;
      this.#entries.set(utterance, { worker, id });
      cached.push({ utterance: new WeakRef(utterance), id });
    }
    const dropped = cached.splice(0, Math.max(0, cached.length - CACHED_UTTERANCES));
    for (const { utterance } of dropped) this.#forgetUtterance(utterance.deref());
    if (dropped.length > 0) worker.forget(dropped.map(({ id }) => id));
  }

  #forget(worker: ModelWorker, utterances: readonly Utterance[]): void {
    const ids = utterances.flatMap((utterance) => this.#entries.get(utterance)?.id ?? []);
    if (ids.length === 0) return;
    for (const utterance of utterances) this.#forgetUtterance(utterance);
    this.#cached.set(
      worker,
      (this.#cached.get(worker) ?? []).filter(({ id }) => !ids.includes(id)),
    );
    worker.forget(ids);
  }

  #forgetUtterance(utterance: Utterance | undefined): void {
    if (utterance !== undefined) this.#entries.delete(utterance);
  }
}

/** Maximum number of parts of a batch. More workers than this are never busy at the same time. */
export const MAX_PARTS = 4;
/** Target size of a part. Larger batches are hardly faster per utterance. */
const PART_UTTERANCES = 4;

/** Divides utterances into parts of similar total length. Returns the indexes of the utterances in each part. */
function divide(utterances: readonly Utterance[]): number[][] {
  const count = Math.min(MAX_PARTS, Math.max(2, Math.ceil(utterances.length / PART_UTTERANCES)));
  const parts = Array.from({ length: Math.min(count, utterances.length) }, () => ({
    samples: 0,
    indexes: [] as number[],
  }));
  const lengthOf = (index: number) => utterances[index]!.samples.length;
  for (const index of [...utterances.keys()].toSorted((a, b) => lengthOf(b) - lengthOf(a))) {
    const least = parts.reduce((a, b) => (b.samples < a.samples ? b : a));
    least.samples += lengthOf(index);
    least.indexes.push(index);
  }
  return parts.map(({ indexes }) => indexes.toSorted((a, b) => a - b));
}
