export interface LoadBalancerOptions {
  /** Maximum concurrent requests per server. */
  concurrency: number;
  /** Cooldown of a server after its first failure; doubled after each further one … */
  cooldownMs: number;
  /** … up to this. */
  maxCooldownMs: number;
  /** How long a request waits if every server is cooling down, and is retried after its first failure. */
  retryTimeoutMs: number;
}

/** A free place at a server for one request. */
export interface Slot<Server> {
  readonly server: Server;
  /** @param audioSeconds length of the audio that the server transcribed */
  succeeded(audioSeconds: number): void;
  failed(retryAfterMs: number | null): void;
  /** Frees the slot without a conclusion about the server: it works but rejected this request, or was not called. */
  release(): void;
}

/** A request, over all of its attempts. */
export interface Request<Server> {
  /** Requests with lower numbers are served first. */
  readonly number: number;
  /** Servers that rejected it. */
  readonly excluded: Set<Server>;
  /** Servers to use only if every other one is cooling down. */
  readonly avoided: Set<Server>;
  /** When to give up (`performance.now()`); infinite until an attempt has failed. */
  deadline: number;
}

interface Member<Server> {
  readonly server: Server;
  inFlight: number;
  /** Failures since the last success; failures of concurrent requests count once. */
  failureCount: number;
  failedAt: number;
  availableAt: number;
  /** Moving average of milliseconds per second of audio; 0 until known, so that a new server is tried. */
  pace: number;
}

interface Waiting<Server> {
  readonly request: Request<Server>;
  settle(slot: Slot<Server> | null): void;
}

/** Upper limit for `Retry-After`: a mistaken value must not exclude a server for the lifetime of the process. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;
/** Node fires timers that are longer than this immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Weight of the newest request in the moving average. */
const NEWEST_SHARE = 0.3;

/**
 * Sends each request to the server with the fewest in flight, then to the fastest. A circuit breaker per server: after
 * a failure it cools down for a growing time, and is then probed with a single request before it gets more.
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

  /** Earlier requests are served first, also when they are retried. */
  request(): Request<Server> {
    const deadline = Number.POSITIVE_INFINITY;
    return { number: this.#requests++, excluded: new Set(), avoided: new Set(), deadline };
  }

  /**
   * Waits for a free slot.
   * @returns null if no eligible server will be available in time
   * @throws the signal's reason
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

  /** Gives free slots to the waiting requests, ends those that would wait in vain, and returns when that may change. */
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
        member.pace += (member.pace === 0 ? 1 : NEWEST_SHARE) * (pace - member.pace);
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
    // Jitter between half and all of it, so that many clients do not return at once.
    const jittered = backoff * (0.5 + Math.random() / 2);
    const cooldown = Math.max(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS), jittered);
    member.availableAt = Math.max(member.availableAt, now + cooldown);
  }
}
