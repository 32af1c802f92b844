import type { Utterance } from "../../vad/utterances.ts";
import type { Engine, RecognitionResult, RecognizeOptions } from "../engine.ts";
import {
  areSpellingsOfSame,
  chooseSpelling,
  isDoubtful,
  mayBeEcho,
  vocabularyPrompt,
} from "../vocabulary.ts";
import { recognitionResult } from "./recognition.ts";
import type { TranscriptionRequest } from "./transcription-form.ts";
import { TranscriptionServers } from "./transcription-servers.ts";
import { wavFileBytes } from "./wav-file.ts";

export interface OpenAiOptions {
  /**
   * Base URLs, such as `https://api.openai.com/v1` or `http://gpu1:8000/v1`, with their API keys. All servers must have
   * the same model.
   */
  servers: readonly { url: string; apiKey: string | null }[];
  /** Name of the model on the servers, such as `whisper-1` or `Systran/faster-whisper-large-v3`. */
  model: string;
  /** 24 MB by default. */
  maxRequestBytes?: number;
  /** Maximum concurrent requests per server; 4 by default. */
  concurrency?: number;
  /** Timeout of a request including its response; 5 minutes by default. */
  timeoutMs?: number;
  /** 10 seconds by default. */
  connectTimeoutMs?: number;
  /** Maximum attempts per utterance on all servers; 8 by default. */
  maxAttempts?: number;
  /** How long an utterance is retried after its first failure; 10 minutes by default. */
  retryTimeoutMs?: number;
  /** For interactive programs: whether a server that was never reached is an error instead of being retried. */
  failsIfUnreachable?: boolean;
  /** Cooldown of a server after a failure; 1 second by default. It doubles after each further failure. */
  cooldownMs?: number;
  /** 1 minute by default. */
  maxCooldownMs?: number;
}

/** Upper limit for the form fields and boundaries of a request. */
const FORM_BYTES = 4_096;
/** Whisper processes windows of 30 seconds. Servers split longer audio without regard to pauses. */
const WINDOW_SECONDS = 29;
/** Servers use only the last 224 tokens of a prompt, and a token has about three bytes. */
const MAX_PROMPT_BYTES = 600;
const WHISPER_LANGUAGES =
  "af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy " +
  "id is it ja jv ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru " +
  "sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo yue zh";

/**
 * Creates an engine that uses servers with OpenAI's API (`POST /audio/transcriptions`), such as OpenAI, speaches,
 * whisper.cpp, vLLM, LocalAI or Groq. Does not contact them yet. `recognize` throws SpeechError `engine_refused`,
 * `engine_unavailable` or `engine_answer_invalid`.
 * @throws SpeechError `engine_refused` if there is no server or a URL is invalid
 */
export async function openOpenAi(options: OpenAiOptions): Promise<Engine> {
  const servers = new TranscriptionServers({
    concurrency: 4,
    timeoutMs: 300_000,
    connectTimeoutMs: 10_000,
    maxAttempts: 8,
    retryTimeoutMs: 600_000,
    failsIfUnreachable: false,
    cooldownMs: 1_000,
    maxCooldownMs: 60_000,
    ...options,
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

  async recognize(
    utterances: readonly Utterance[],
    { signal, languages, vocabulary = [] }: RecognizeOptions,
  ): Promise<RecognitionResult[]> {
    const prompt = vocabularyPrompt(vocabulary, (text) => Buffer.byteLength(text) <= MAX_PROMPT_BYTES);
    const givenUp = new AbortController();
    const ended = AbortSignal.any([signal, this.#closed.signal, givenUp.signal]);
    const results = utterances.map(async (utterance, index) => {
      const language = languages?.[index] ?? null;
      try {
        const result = await this.#request(utterance, { language, prompt }, ended);
        if (prompt === "") return result;
        const isSuspect = mayBeEcho(result, vocabulary, utterance);
        if (!isSuspect && !isDoubtful(result, vocabulary)) return result;
        const plain = await this.#request(utterance, { language, prompt: "" }, ended);
        if (isSuspect && !areSpellingsOfSame(plain, result)) return plain;
        return chooseSpelling(plain, result, vocabulary);
      } catch (error) {
        // The batch fails, so the other results are not needed.
        givenUp.abort(error);
        throw error;
      }
    });
    await Promise.allSettled(results);
    return Promise.all(results);
  }

  async #request(
    utterance: Utterance,
    request: TranscriptionRequest,
    signal: AbortSignal,
  ): Promise<RecognitionResult> {
    const response = await this.#servers.transcribe(utterance, request, signal);
    return recognitionResult(response, utterance, request.language);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#servers.close();
  }
}
