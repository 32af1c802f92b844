import type { Engine, Hearing, HearOptions, Utterance } from "../engine.ts";
import { type Clock, monotonicClock } from "./clock.ts";
import { hearingOf } from "./recognition.ts";
import { TranscriptionServers } from "./transcription-servers.ts";
import { wavFileBytes } from "./wav-file.ts";

export interface OpenAiOptions {
  /**
   * Base URLs as people know them (`https://api.openai.com/v1`, `http://gpu1:8000/v1`), each with its key.
   * More than one is a fleet: all must have the same model.
   */
  servers: readonly { url: string; apiKey: string | null }[];
  /** As the servers call it: `whisper-1`, `Systran/faster-whisper-large-v3`. */
  model: string;
  /** The most that a request may hold, 24 MB by default. */
  maxRequestBytes?: number;
  /** Requests that one server is given at a time, 4 by default. */
  concurrency?: number;
  /** From the start of a request to the end of its answer, 5 minutes by default. */
  timeoutMs?: number;
  /** Until the answer begins, as long as `timeoutMs` by default. */
  firstByteTimeoutMs?: number;
  /** To reach a server, 10 seconds by default. */
  connectTimeoutMs?: number;
  /** How often one utterance is sent before it is given up, 8 times by default, over all servers. */
  tries?: number;
  /** How long one utterance is waited for after a first failure, 10 minutes by default. */
  patienceMs?: number;
  /**
   * Whether a server that can not be reached, and has never been, is taken for one with a wrong address and given
   * up at once, as somebody who waits for it wants; else it is waited for like one that starts anew.
   */
  givesUpUnreached?: boolean;
  /** How long a server rests after a failure, twice as long after each further one: 1 second by default … */
  firstRestMs?: number;
  /** … and up to 1 minute. */
  longestRestMs?: number;
  clock?: Clock;
  /** 0 ≤ random() < 1 */
  random?: () => number;
}

/** Form fields and their borders take less. */
const FORM_BYTES = 4_096;
/** Whisper hears windows of 30 seconds; what is longer is cut by the server, and not at a pause. */
const WINDOW_SECONDS = 29;
/** What Whisper models can write down. */
const WHISPER_LANGUAGES =
  "af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy " +
  "id is it ja jv ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru " +
  "sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo yue zh";

/**
 * Transcription by servers with OpenAI's interface (`POST /audio/transcriptions`): OpenAI, speaches,
 * whisper.cpp's server, vLLM, LocalAI, Groq. No server is asked before there is something to hear.
 * `hear` throws SpeechError `engine_refused`, `engine_unavailable` or `engine_answer_invalid`.
 * @throws SpeechError `engine_refused` where there is no server, or a URL is none
 */
export async function openOpenAi(options: OpenAiOptions): Promise<Engine> {
  const timeoutMs = options.timeoutMs ?? 300_000;
  const servers = new TranscriptionServers({
    servers: options.servers,
    model: options.model,
    concurrency: options.concurrency ?? 4,
    timeouts: {
      connectMs: options.connectTimeoutMs ?? 10_000,
      firstByteMs: options.firstByteTimeoutMs ?? timeoutMs,
      totalMs: timeoutMs,
    },
    tries: options.tries ?? 8,
    patienceMs: options.patienceMs ?? 600_000,
    givesUpUnreached: options.givesUpUnreached ?? false,
    firstRestMs: options.firstRestMs ?? 1_000,
    longestRestMs: options.longestRestMs ?? 60_000,
    clock: options.clock ?? monotonicClock,
    random: options.random ?? Math.random,
  });
  const bytesPerSecond = wavFileBytes(16_000) - wavFileBytes(0);
  const fittingSeconds = ((options.maxRequestBytes ?? 24_000_000) - FORM_BYTES) / bytesPerSecond;
  return new OpenAi(options.model, servers, Math.min(WINDOW_SECONDS, fittingSeconds));
}

class OpenAi implements Engine {
  readonly name: string;
  readonly languages = WHISPER_LANGUAGES.split(" ");
  readonly maxUtteranceSeconds: number;
  readonly #servers: TranscriptionServers;
  readonly #closed = new AbortController();

  constructor(model: string, servers: TranscriptionServers, maxUtteranceSeconds: number) {
    this.name = `openai:${model}`;
    this.#servers = servers;
    this.maxUtteranceSeconds = maxUtteranceSeconds;
  }

  async hear(utterances: readonly Utterance[], { signal, languages }: HearOptions): Promise<Hearing[]> {
    const givenUp = new AbortController();
    const ended = AbortSignal.any([signal, this.#closed.signal, givenUp.signal]);
    const hearings = utterances.map(async (utterance, index) => {
      const language = languages?.[index] ?? null;
      try {
        return hearingOf(await this.#servers.ask(utterance, language, ended), utterance, language);
      } catch (error) {
        // Without this one the others are of no use.
        givenUp.abort(error);
        throw error;
      }
    });
    await Promise.allSettled(hearings);
    return Promise.all(hearings);
  }

  async close(): Promise<void> {
    this.#closed.abort();
  }
}
