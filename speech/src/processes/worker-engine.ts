import type {
  Engine,
  LanguageProbabilities,
  RecognitionResult,
  RecognizeOptions,
} from "../engines/engine.ts";
import type { Utterance } from "../vad/utterances.ts";
import { ModelWorker } from "./model-worker.ts";
import type { SentUtterance, WorkerEngineDescription, WorkerSpec } from "./worker-messages.ts";

/**
 * How many utterances a worker caches between language detection and recognition; an engine may cache 5 MB or
 * so for each.
 */
const CACHED_UTTERANCES = 32;

/**
 * An engine whose model runs in several worker threads at once, each with its own copy.
 * @throws SpeechError
 */
export async function openWorkerEngine(part: WorkerSpec, workers: number): Promise<Engine> {
  const outcomes = await Promise.allSettled(Array.from({ length: workers }, () => ModelWorker.open(part)));
  const opened = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  try {
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
    const description = opened[0]?.description;
    if (!description) throw new Error(`${part.kind} is not an engine.`);
    return new WorkerEngine(opened, description);
  } catch (error) {
    await Promise.all(opened.map((worker) => worker.close()));
    throw error;
  }
}

/** The worker that has cached an utterance. */
interface Known {
  worker: ModelWorker;
  id: number;
}

class WorkerEngine implements Engine {
  readonly name: string;
  readonly languages: readonly string[];
  readonly maxUtteranceSeconds: number;
  readonly warnings: readonly string[];
  readonly detectLanguages?: NonNullable<Engine["detectLanguages"]>;
  readonly #workers: readonly ModelWorker[];
  readonly #known = new WeakMap<Utterance, Known>();
  readonly #cached = new Map<ModelWorker, { id: number; utterance: WeakRef<Utterance> }[]>();
  #lastUtterance = 0;

  constructor(workers: readonly ModelWorker[], description: WorkerEngineDescription) {
    this.#workers = workers;
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
    { signal, languages }: RecognizeOptions,
  ): Promise<RecognitionResult[]> {
    return await this.#spread(utterances, signal, async (worker, part, workerSignal) => {
      const call = {
        method: "recognize" as const,
        utterances: part.map((place) => this.#toSend(utterances[place]!, worker)),
        languages: languages ? part.map((place) => languages[place] ?? null) : null,
      };
      const results = await worker.call(call, workerSignal);
      this.#forget(
        worker,
        part.map((place) => utterances[place]!),
      );
      return results;
    });
  }

  async #detect(utterances: readonly Utterance[], signal: AbortSignal): Promise<LanguageProbabilities[]> {
    return await this.#spread(utterances, signal, async (worker, part, workerSignal) => {
      const sent = part.map((place) => this.#toSend(utterances[place]!, worker));
      const detected = await worker.call({ method: "detectLanguages", utterances: sent }, workerSignal);
      this.#cache(
        worker,
        part.map((place, index) => ({ utterance: utterances[place]!, id: sent[index]!.id })),
      );
      return detected;
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close()));
  }

  /** Distributes utterances over the workers; if one fails, the others are stopped and awaited. */
  async #spread<Result>(
    utterances: readonly Utterance[],
    signal: AbortSignal,
    work: (worker: ModelWorker, part: readonly number[], signal: AbortSignal) => Promise<Result[]>,
  ): Promise<Result[]> {
    const results: Result[] = [];
    const failed = new AbortController();
    const workerSignal = AbortSignal.any([signal, failed.signal]);
    const outcomes = await Promise.allSettled(
      [...this.#shares(utterances)].map(async ([worker, part]) => {
        try {
          const partResults = await work(worker, part, workerSignal);
          for (const [index, place] of part.entries()) results[place] = partResults[index]!;
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

  /**
   * Indexes of utterances by worker: cached utterances go to the worker that has them, the others in order of
   * length, longest first.
   */
  #shares(utterances: readonly Utterance[]): Map<ModelWorker, number[]> {
    const shares = new Map<ModelWorker, { samples: number; places: number[] }>(
      this.#workers.map((worker) => [worker, { samples: 0, places: [] }]),
    );
    const give = (worker: ModelWorker, place: number) => {
      const share = shares.get(worker)!;
      share.samples += utterances[place]!.samples.length;
      share.places.push(place);
    };
    const places = [...utterances.keys()];
    const isKnown = (place: number) => this.#known.has(utterances[place]!);
    for (const place of places.filter(isKnown)) give(this.#known.get(utterances[place]!)!.worker, place);
    const longestFirst = places
      .filter((place) => !isKnown(place))
      .toSorted((a, b) => utterances[b]!.samples.length - utterances[a]!.samples.length);
    for (const place of longestFirst) {
      const least = this.#workers.reduce((a, b) => (shares.get(b)!.samples < shares.get(a)!.samples ? b : a));
      give(least, place);
    }
    return new Map(
      [...shares]
        .filter(([, { places: own }]) => own.length > 0)
        .map(([worker, { places: own }]) => [worker, own.toSorted((a, b) => a - b)]),
    );
  }

  #toSend(utterance: Utterance, worker: ModelWorker): SentUtterance {
    const known = this.#known.get(utterance);
    if (known?.worker === worker) return { id: known.id, start: utterance.start, samples: null };
    this.#lastUtterance += 1;
    return { id: this.#lastUtterance, start: utterance.start, samples: utterance.samples.slice() };
  }

  #cache(worker: ModelWorker, utterances: readonly { utterance: Utterance; id: number }[]): void {
    const cached = this.#cached.get(worker) ?? [];
    this.#cached.set(worker, cached);
    for (const { utterance, id } of utterances) {
      if (this.#known.has(utterance)) continue;
      this.#known.set(utterance, { worker, id });
      cached.push({ utterance: new WeakRef(utterance), id });
    }
    const dropped = cached.splice(0, Math.max(0, cached.length - CACHED_UTTERANCES));
    for (const { utterance } of dropped) this.#forgetUtterance(utterance.deref());
    if (dropped.length > 0) worker.forget(dropped.map(({ id }) => id));
  }

  #forget(worker: ModelWorker, utterances: readonly Utterance[]): void {
    const known = utterances.flatMap((utterance) => this.#known.get(utterance)?.id ?? []);
    if (known.length === 0) return;
    for (const utterance of utterances) this.#forgetUtterance(utterance);
    this.#cached.set(
      worker,
      (this.#cached.get(worker) ?? []).filter(({ id }) => !known.includes(id)),
    );
    worker.forget(known);
  }

  #forgetUtterance(utterance: Utterance | undefined): void {
    if (utterance !== undefined) this.#known.delete(utterance);
  }
}
