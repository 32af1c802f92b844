import { setTimeout as delay } from "node:timers/promises";

export interface Clock {
  /** Milliseconds on a monotonic clock. */
  now(): number;
  /** Milliseconds since 1970. */
  date(): number;
  /** Ends early if the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const monotonicClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  async sleep(milliseconds, signal) {
    // Node fires timers that are longer than this immediately.
    const longest = 2 ** 31 - 1;
    await delay(Math.min(milliseconds, longest), undefined, { signal }).catch(() => {});
  },
};

export interface FleetOptions {
  /** Maximum concurrent requests per server. */
  concurrency: number;
  /** Cooldown of a server after its first failure; doubled after each further one … */
  firstRestMs: number;
  /** … up to this. */
  longestRestMs: number;
  /** How long a request waits if every server is cooling down. */
  patienceMs: number;
  clock: Clock;
  /** 0 ≤ random() < 1 */
  random: () => number;
}

/** A slot of a server for one request. */
export interface Place<Server> {
  readonly server: Server;
  /** @param amount seconds of audio */
  succeeded(amount: number): void;
  /** @param restMs `Retry-After` of the server */
  failed(restMs: number | null): void;
  /** Frees the slot without counting for or against the server: it works but rejected this request, or was not called. */
  left(): void;
}

/** Upper limit for `Retry-After`: a mistaken value must not exclude a server for the lifetime of the process. */
const LONGEST_ASKED_REST_MS = 15 * 60_000;

/** Weight of the newest request in the moving average of a server's speed. */
const NEWEST_SHARE = 0.3;

interface Member<Server> {
  readonly server: Server;
  inFlight: number;
  /** Failures since the last success; failures of concurrent requests count once. */
  failures: number;
  failedAt: number;
  restsUntil: number;
  /** Milliseconds per second of audio; 0 until known, so that a new server is tried. */
  pace: number;
}

/** A request, over all of its attempts. */
export interface Request<Server> {
  /** Requests with lower numbers are served first. */
  readonly number: number;
  /** Servers that rejected it. */
  readonly never: Set<Server>;
  /** Servers to use only if every other one is cooling down. */
  readonly ratherNot: Set<Server>;
  /** When to give up, by the clock; infinite until an attempt has failed. */
  deadline: number;
}

interface Waiter<Server> {
  readonly request: Request<Server>;
  place: Place<Server> | null;
  wake(): void;
}

/**
 * Distributes requests over servers: to the one with the fewest requests in flight, then to the fastest. A
 * failing server cools down for a growing time and is then tried with a single request before it gets more.
 */
export class Fleet<Server> {
  readonly #members: readonly Member<Server>[];
  readonly #options: FleetOptions;
  readonly #waiters: Waiter<Server>[] = [];
  #requests = 0;

  constructor(servers: readonly Server[], options: FleetOptions) {
    this.#members = servers.map((server) => ({
      server,
      inFlight: 0,
      failures: 0,
      failedAt: Number.NEGATIVE_INFINITY,
      restsUntil: 0,
      pace: 0,
    }));
    this.#options = options;
  }

  /** Earlier requests are served first, also when they are retried. */
  request(): Request<Server> {
    return {
      number: this.#requests++,
      never: new Set(),
      ratherNot: new Set(),
      deadline: Number.POSITIVE_INFINITY,
    };
  }

  /**
   * Waits for a free slot.
   * @returns null if no eligible server will be available in time
   * @throws the signal's reason
   */
  async place(request: Request<Server>, signal: AbortSignal): Promise<Place<Server> | null> {
    const { clock, patienceMs } = this.#options;
    const waiter: Waiter<Server> = { request, place: null, wake: () => {} };
    const after = this.#waiters.findIndex((other) => other.request.number > request.number);
    this.#waiters.splice(after === -1 ? this.#waiters.length : after, 0, waiter);
    try {
      for (;;) {
        signal.throwIfAborted();
        this.#serve();
        if (waiter.place !== null) return waiter.place;
        const now = clock.now();
        const rests = this.#members
          .filter(({ server }) => !request.never.has(server))
          .map(({ restsUntil }) => restsUntil);
        if (Math.min(...rests) > Math.min(request.deadline, now + patienceMs)) return null;
        if (now >= request.deadline) return null;
        const next = Math.min(request.deadline, ...rests.filter((until) => until > now));
        const woken = new AbortController();
        waiter.wake = () => woken.abort();
        await clock.sleep(next - now, AbortSignal.any([signal, woken.signal]));
      }
    } catch (error) {
      waiter.place?.left();
      throw error;
    } finally {
      const at = this.#waiters.indexOf(waiter);
      if (at !== -1) this.#waiters.splice(at, 1);
    }
  }

  #serve(): void {
    for (const waiter of [...this.#waiters]) {
      const member = this.#choose(waiter.request);
      if (member === null) continue;
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      waiter.place = this.#take(member);
      waiter.wake();
    }
  }

  #choose({ never, ratherNot }: Request<Server>): Member<Server> | null {
    const now = this.#options.clock.now();
    const awake = this.#members.filter(({ server, restsUntil }) => restsUntil <= now && !never.has(server));
    const preferred = awake.filter(({ server }) => !ratherNot.has(server));
    const free = (preferred.length > 0 ? preferred : awake).filter(
      ({ inFlight, failures }) => inFlight < (failures > 0 ? 1 : this.#options.concurrency),
    );
    const best = free.toSorted((a, b) => a.inFlight - b.inFlight || a.pace - b.pace)[0];
    return best ?? null;
  }

  #take(member: Member<Server>): Place<Server> {
    const { clock } = this.#options;
    const startedAt = clock.now();
    member.inFlight++;
    const leave = () => {
      member.inFlight--;
      // A cooldown may have begun: waiting requests must see it and its end.
      for (const { wake } of [...this.#waiters]) wake();
    };
    return {
      server: member.server,
      succeeded: (amount) => {
        const pace = (clock.now() - startedAt) / Math.max(amount, 0.1);
        member.pace = member.pace === 0 ? pace : member.pace + NEWEST_SHARE * (pace - member.pace);
        member.failures = 0;
        leave();
      },
      failed: (restMs) => {
        this.#rest(member, startedAt, restMs);
        leave();
      },
      left: leave,
    };
  }

  #rest(member: Member<Server>, startedAt: number, restMs: number | null): void {
    const { clock, firstRestMs, longestRestMs, random } = this.#options;
    const now = clock.now();
    if (startedAt >= member.failedAt) {
      member.failures++;
      member.failedAt = now;
    }
    const grown = Math.min(longestRestMs, firstRestMs * 2 ** (member.failures - 1));
    // Jitter between half and all of it, so that many clients do not return at once.
    const asked = Math.min(restMs ?? 0, LONGEST_ASKED_REST_MS);
    const rest = Math.max(asked, grown * (0.5 + random() / 2));
    member.restsUntil = Math.max(member.restsUntil, now + rest);
  }
}
