/** The current time. Tests pass a clock that they set. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
