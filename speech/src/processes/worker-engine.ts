import type { Engine, Hearing, HearOptions, LanguageProbabilities, Utterance } from "../engines/engine.ts";
import { Lane } from "./model-worker.ts";
import type { LaneDescription, LanePart, SentUtterance } from "./worker-messages.ts";

/**
 * A lane keeps this many utterances between being asked for their language and hearing them; an engine may
 * keep what it has computed of each, 5 MB or so.
 */
const KEPT_UTTERANCES = 32;

/**
 * An engine whose model runs in several threads at once, each with its own copy: small models compute more
 * on two threads of one run each than on one run of two threads (measured: 145 and 122 × real time).
 * @throws SpeechError
 */
export async function openLanedEngine(part: LanePart, lanes: number): Promise<Engine> {
  const outcomes = await Promise.allSettled(Array.from({ length: lanes }, () => Lane.open(part)));
  const opened = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  try {
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
    const description = opened[0]?.description;
    if (!description) throw new Error(`${part.kind} is no engine.`);
    return new LanedEngine(opened, description);
  } catch (error) {
    await Promise.all(opened.map((lane) => lane.close()));
    throw error;
  }
}

/** What a lane still has of an utterance. */
interface Known {
  lane: Lane;
  id: number;
}

class LanedEngine implements Engine {
  readonly name: string;
  readonly languages: readonly string[];
  readonly maxUtteranceSeconds: number;
  readonly warnings: readonly string[];
  readonly detectLanguages?: NonNullable<Engine["detectLanguages"]>;
  readonly #lanes: readonly Lane[];
  readonly #known = new WeakMap<Utterance, Known>();
  readonly #kept = new Map<Lane, { id: number; utterance: WeakRef<Utterance> }[]>();
  #lastUtterance = 0;

  constructor(lanes: readonly Lane[], description: LaneDescription) {
    this.#lanes = lanes;
    this.name = description.name;
    this.languages = description.languages;
    this.maxUtteranceSeconds = description.maxUtteranceSeconds;
    this.warnings = description.warnings;
    if (description.detectsLanguages) {
      this.detectLanguages = (utterances, signal) => this.#detect(utterances, signal);
    }
  }

  async hear(utterances: readonly Utterance[], { signal, languages }: HearOptions): Promise<Hearing[]> {
    return await this.#spread(utterances, signal, async (lane, part, laneSignal) => {
      const call = {
        method: "hear" as const,
        utterances: part.map((place) => this.#toSend(utterances[place]!, lane)),
        languages: languages ? part.map((place) => languages[place] ?? null) : null,
      };
      const hearings = await lane.call(call, laneSignal);
      this.#forget(
        lane,
        part.map((place) => utterances[place]!),
      );
      return hearings;
    });
  }

  async #detect(utterances: readonly Utterance[], signal: AbortSignal): Promise<LanguageProbabilities[]> {
    return await this.#spread(utterances, signal, async (lane, part, laneSignal) => {
      const sent = part.map((place) => this.#toSend(utterances[place]!, lane));
      const detected = await lane.call({ method: "detectLanguages", utterances: sent }, laneSignal);
      this.#keep(
        lane,
        part.map((place, index) => ({ utterance: utterances[place]!, id: sent[index]!.id })),
      );
      return detected;
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  /** Every lane gets a share; where one fails, the others are stopped and waited for. */
  async #spread<Result>(
    utterances: readonly Utterance[],
    signal: AbortSignal,
    work: (lane: Lane, part: readonly number[], signal: AbortSignal) => Promise<Result[]>,
  ): Promise<Result[]> {
    const results: Result[] = [];
    const failed = new AbortController();
    const laneSignal = AbortSignal.any([signal, failed.signal]);
    const outcomes = await Promise.allSettled(
      [...this.#shares(utterances)].map(async ([lane, part]) => {
        try {
          const partResults = await work(lane, part, laneSignal);
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

  /** Places of utterances, by lane: an utterance that a lane knows goes to it, the longest others go first. */
  #shares(utterances: readonly Utterance[]): Map<Lane, number[]> {
    const shares = new Map<Lane, { samples: number; places: number[] }>(
      this.#lanes.map((lane) => [lane, { samples: 0, places: [] }]),
    );
    const give = (lane: Lane, place: number) => {
      const share = shares.get(lane)!;
      share.samples += utterances[place]!.samples.length;
      share.places.push(place);
    };
    const places = [...utterances.keys()];
    const isKnown = (place: number) => this.#known.has(utterances[place]!);
    for (const place of places.filter(isKnown)) give(this.#known.get(utterances[place]!)!.lane, place);
    const longestFirst = places
      .filter((place) => !isKnown(place))
      .toSorted((a, b) => utterances[b]!.samples.length - utterances[a]!.samples.length);
    for (const place of longestFirst) {
      const least = this.#lanes.reduce((a, b) => (shares.get(b)!.samples < shares.get(a)!.samples ? b : a));
      give(least, place);
    }
    return new Map(
      [...shares]
        .filter(([, { places: own }]) => own.length > 0)
        .map(([lane, { places: own }]) => [lane, own.toSorted((a, b) => a - b)]),
    );
  }

  #toSend(utterance: Utterance, lane: Lane): SentUtterance {
    const known = this.#known.get(utterance);
    if (known?.lane === lane) return { id: known.id, start: utterance.start, samples: null };
    this.#lastUtterance += 1;
    return { id: this.#lastUtterance, start: utterance.start, samples: utterance.samples.slice() };
  }

  #keep(lane: Lane, utterances: readonly { utterance: Utterance; id: number }[]): void {
    const kept = this.#kept.get(lane) ?? [];
    this.#kept.set(lane, kept);
    for (const { utterance, id } of utterances) {
      if (this.#known.has(utterance)) continue;
      this.#known.set(utterance, { lane, id });
      kept.push({ utterance: new WeakRef(utterance), id });
    }
    const dropped = kept.splice(0, Math.max(0, kept.length - KEPT_UTTERANCES));
    for (const { utterance } of dropped) this.#unknow(utterance.deref());
    if (dropped.length > 0) lane.forget(dropped.map(({ id }) => id));
  }

  #forget(lane: Lane, utterances: readonly Utterance[]): void {
    const known = utterances.flatMap((utterance) => this.#known.get(utterance)?.id ?? []);
    if (known.length === 0) return;
    for (const utterance of utterances) this.#unknow(utterance);
    this.#kept.set(
      lane,
      (this.#kept.get(lane) ?? []).filter(({ id }) => !known.includes(id)),
    );
    lane.forget(known);
  }

  #unknow(utterance: Utterance | undefined): void {
    if (utterance !== undefined) this.#known.delete(utterance);
  }
}
