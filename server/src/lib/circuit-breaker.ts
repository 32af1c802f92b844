import type { Logger } from "pino";
import type { AppError } from "./errors.ts";

const SLOW_REQUEST_MS = 5_000;
const CHECK_INTERVAL_MS = 1_000;
/** Minimum time between probes while requests are slow but the dependency is available. */
const SLOW_PROBE_INTERVAL_MS = 5_000;

export interface CircuitBreakerOptions {
  /** For log messages: `the database`. */
  name: string;
  log: Logger | null;
  /** Opens a new connection. Rejects within seconds if the dependency does not respond. */
  probe(): Promise<void>;
  toError(cause: unknown): AppError;
}

interface OpenRequest {
  startedAt: number;
  abort: (reason: AppError) => void;
}

/**
 * Tracks whether a network dependency is available. TCP takes about 15 minutes to detect a dead connection, and a slow
 * response can be legitimate. If a request is slow, the breaker therefore probes over a new connection. If the probe
 * fails, the dependency is unavailable: open requests are aborted, new ones are refused immediately, and a probe per
 * second detects recovery. An outage is logged once when it begins and once when it ends.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  readonly #open = new Set<OpenRequest>();
  readonly #timer: NodeJS.Timeout;
  #outage: { error: AppError; since: number } | null = null;
  #probing: Promise<void> | null = null;
  #probedAt = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS);
    this.#timer.unref();
  }

  /** @throws the error from `toError` during an outage */
  assertAvailable(): void {
    if (this.#outage) throw this.#options.toError(this.#outage.error.cause);
  }

  /**
   * Probes the dependency now, to distinguish the failure of one request from an outage.
   * @throws the error from `toError` if the dependency is unavailable
   */
  async probe(): Promise<void> {
    // A probe that is already running may have started before the failure, so another one follows.
    await this.#probing;
    await this.#probe();
    this.assertAvailable();
  }

  /**
   * Registers a request that starts now.
   * @param abort called if an outage begins before the response arrives
   * @returns a function to call when the request has ended
   */
  track(abort: (reason: AppError) => void): () => void {
    const request = { startedAt: performance.now(), abort };
    this.#open.add(request);
    return () => void this.#open.delete(request);
  }

  /** Reports a failure that may be an outage. */
  markSuspect(): void {
    void this.#probe();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  #check(): void {
    const now = performance.now();
    const isSlow = ({ startedAt }: OpenRequest) => now - startedAt > SLOW_REQUEST_MS;
    const needsProbe = now - this.#probedAt > SLOW_PROBE_INTERVAL_MS && [...this.#open].some(isSlow);
    if (this.#outage || needsProbe) void this.#probe();
  }

  #probe(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#probing ??= this.#probeOnce().finally(() => {
      this.#probing = null;
    });
    return this.#probing;
  }

  async #probeOnce(): Promise<void> {
    this.#probedAt = performance.now();
    const { name, log, probe, toError } = this.#options;
    try {
      await probe();
      if (this.#outage && !this.#closed) {
        const seconds = Math.round((performance.now() - this.#outage.since) / 1000);
        log?.info({ seconds }, `${name} is available again`);
      }
      this.#outage = null;
    } catch (cause) {
      if (this.#closed) return;
      if (!this.#outage) log?.error({ err: cause }, `${name} is unavailable`);
      const error = toError(cause);
      this.#outage = { error, since: this.#outage?.since ?? this.#probedAt };
      for (const { startedAt, abort } of this.#open) {
        // The request may have taken effect even though its response was lost.
        if (startedAt <= this.#probedAt) abort(error);
      }
    }
  }
}
