import type { Clock } from "./clock.ts";

export interface FleetOptions {
  /** Requests that one server is given at a time. */
  concurrency: number;
  /** How long a server rests after its first failure; twice as long after each further one … */
  firstRestMs: number;
  /** … up to this. */
  longestRestMs: number;
  /** How long a request waits where every server rests. */
  patienceMs: number;
  clock: Clock;
  /** 0 ≤ random() < 1 */
  random: () => number;
}

/** A place at a server for one request. */
export interface Place<Server> {
  readonly server: Server;
  /** @param amount what was done, in the same unit as with all others: seconds of audio */
  succeeded(amount: number): void;
  /** @param restMs how long the server itself asks to be left alone */
  failed(restMs: number | null): void;
  /** Frees the place without a word on the server: it works, but refused this request, or was not asked. */
  left(): void;
}

/**
 * A server that asks for a longer rest is tried again after this one all the same: it may have meant something
 * else, and its word would keep the engine from it for as long as the process lives.
 */
const LONGEST_ASKED_REST_MS = 15 * 60_000;

/** How much the newest request counts in a server's speed. */
const NEWEST_SHARE = 0.3;

interface Member<Server> {
  readonly server: Server;
  inFlight: number;
  /** Failures since the last success, those of requests that ran side by side counted once. */
  failures: number;
  failedAt: number;
  restsUntil: number;
  /** Milliseconds for each unit done; 0 until known, so that a new server is tried. */
  pace: number;
}

/** Something to be done by one of the servers, in one or more tries. */
export interface Request<Server> {
  /** The lower, the earlier it is served. */
  readonly number: number;
  /** Those that have refused it. */
  readonly never: Set<Server>;
  /** Those to be asked only where every other one rests. */
  readonly ratherNot: Set<Server>;
  /** When it is given up, by the clock; infinite until a try has failed. */
  deadline: number;
}

interface Waiter<Server> {
  readonly request: Request<Server>;
  place: Place<Server> | null;
  wake(): void;
}

/**
 * Spreads requests over servers of one kind: to the one with the fewest in flight, then to the fastest. One
 * that fails rests for a growing while, and is then tried again by one request before it gets more.
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

  /** Those that are made earlier are served earlier, also where they come back after a failure. */
  request(): Request<Server> {
    return {
      number: this.#requests++,
      never: new Set(),
      ratherNot: new Set(),
      deadline: Number.POSITIVE_INFINITY,
    };
  }

  /**
   * Waits for a free place.
   * @returns null where no server that may be asked will be awake in time
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
      // A rest may have begun: those who wait must see it, and when it ends.
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
    // Between half and all of it, so that many clients do not come back at once.
    const asked = Math.min(restMs ?? 0, LONGEST_ASKED_REST_MS);
    const rest = Math.max(asked, grown * (0.5 + random() / 2));
    member.restsUntil = Math.max(member.restsUntil, now + rest);
  }
}
