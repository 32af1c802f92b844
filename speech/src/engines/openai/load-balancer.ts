export interface LoadBalancerOptions {
  concurrency: number;
  /** Cooldown of a server after its first failure. It doubles after each further failure. */
  cooldownMs: number;
  maxCooldownMs: number;
  /** Maximum time that a request waits for a server, and that it is retried after its first failure. */
  retryTimeoutMs: number;
}

/** Permission to send one request to a server. */
export interface Slot<Server> {
  readonly server: Server;
  /** @param audioSeconds length of the audio that the server transcribed */
  succeeded(audioSeconds: number): void;
  failed(retryAfterMs: number | null): void;
  /** Frees the slot without counting a success or failure, e.g. if the server rejected this request or was not called. */
  release(): void;
}

/** A request with all its attempts. */
export interface Request<Server> {
  /** Requests with lower numbers are served first. */
  readonly number: number;
  /** Servers that rejected the request. */
  readonly excluded: Set<Server>;
  /** Servers to use only if all others are cooling down. */
  readonly avoided: Set<Server>;
  /** When to give up, on the clock of `performance.now()`; infinite until an attempt has failed. */
  deadline: number;
}

interface Member<Server> {
  readonly server: Server;
  inFlight: number;
  /** Failures since the last success. Failures of concurrent requests count once. */
  failureCount: number;
  failedAt: number;
  availableAt: number;
  /** Moving average of milliseconds per second of audio. It is 0 until known, so new servers are preferred. */
  pace: number;
}

interface Waiting<Server> {
  readonly request: Request<Server>;
  settle(slot: Slot<Server> | null): void;
}

/** Upper limit for `Retry-After`, so a wrong value cannot exclude a server forever. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;
/** Node.js fires longer timers immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const NEWEST_WEIGHT = 0.3;

/**
 * Assigns requests to the server with the fewest requests in flight, or the fastest of several. Each server has a circuit
 * breaker: after a failure, it cools down for a growing time and is then probed with a single request.
 */
export class LoadBalancer<Server> {
  readonly #members: readonly Member<Server>[];
  readonly #options: LoadBalancerOptions;
  readonly #waiting: Waiting<Server>[] = [];
  #requests = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(servers: readonly Server[], options: LoadBalancerOptions) {
    this.#members = servers.map((server) => ({
      server,
      inFlight: 0,
      failureCount: 0,
      failedAt: Number.NEGATIVE_INFINITY,
      availableAt: 0,
      pace: 0,
    }));
    this.#options = options;
  }

  /** Creates a request. Earlier requests are served first, even if they are retries. */
  request(): Request<Server> {
    const deadline = Number.POSITIVE_INFINITY;
    return { number: this.#requests++, excluded: new Set(), avoided: new Set(), deadline };
  }

  /**
   * Waits for a free slot.
   * @returns null if no server will be available before the deadline or the retry timeout
   * @throws the signal's reason if it is aborted
   */
  async acquire(request: Request<Server>, signal: AbortSignal): Promise<Slot<Server> | null> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Slot<Server> | null>();
    const leave = () => void this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    const abort = () => {
      leave();
      reject(signal.reason);
      this.#assign();
    };
    const waiting: Waiting<Server> = {
      request,
      settle(slot) {
        leave();
        signal.removeEventListener("abort", abort);
        resolve(slot);
      },
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#waiting.push(waiting);
    this.#waiting.sort((a, b) => a.request.number - b.request.number);
    this.#assign();
    return await promise;
  }

  /**
   * Assigns free slots to waiting requests and ends requests that would wait too long. Sets a timer for the next
   * time at which this may change.
   */
  #assign(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const { request, settle } of [...this.#waiting]) {
      const { excluded, deadline } = request;
      const member = this.#choose(request, now);
      const available = this.#members
        .filter(({ server }) => !excluded.has(server))
        .map(({ availableAt }) => availableAt);
      const limit = Math.min(deadline, now + this.#options.retryTimeoutMs);
      if (member !== undefined) settle(this.#take(member, now));
      else if (now >= deadline || Math.min(...available) > limit) settle(null);
      else next = Math.min(next, deadline, ...available.filter((time) => time > now));
    }
    if (next < Number.POSITIVE_INFINITY) {
      this.#timer = setTimeout(() => this.#assign(), Math.min(Math.ceil(next - now), MAX_TIMER_MS));
    }
  }

  #choose({ excluded, avoided }: Request<Server>, now: number): Member<Server> | undefined {
    const { concurrency } = this.#options;
    const eligible = this.#members.filter(
      ({ server, availableAt }) => availableAt <= now && !excluded.has(server),
    );
    const preferred = eligible.filter(({ server }) => !avoided.has(server));
    return (preferred.length > 0 ? preferred : eligible)
      .filter(({ inFlight, failureCount }) => inFlight < (failureCount > 0 ? 1 : concurrency))
      .toSorted((a, b) => a.inFlight - b.inFlight || a.pace - b.pace)[0];
  }

  #take(member: Member<Server>, startedAt: number): Slot<Server> {
    member.inFlight++;
    const release = () => {
      member.inFlight--;
      this.#assign();
    };
    return {
      server: member.server,
      succeeded: (audioSeconds) => {
        const pace = (performance.now() - startedAt) / Math.max(audioSeconds, 0.1);
        member.pace += (member.pace === 0 ? 1 : NEWEST_WEIGHT) * (pace - member.pace);
        member.failureCount = 0;
        release();
      },
      failed: (retryAfterMs) => {
        this.#coolDown(member, startedAt, retryAfterMs ?? 0);
        release();
      },
      release,
    };
  }

  #coolDown(member: Member<Server>, startedAt: number, retryAfterMs: number): void {
    const now = performance.now();
    if (startedAt >= member.failedAt) {
      member.failureCount++;
      member.failedAt = now;
    }
    const { cooldownMs, maxCooldownMs } = this.#options;
    const backoff = Math.min(maxCooldownMs, cooldownMs * 2 ** (member.failureCount - 1));
    // Jitter prevents many clients from returning simultaneously.
    const jittered = backoff * (0.5 + Math.random() / 2);
    const cooldown = Math.max(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS), jittered);
    member.availableAt = Math.max(member.availableAt, now + cooldown);
  }
}
