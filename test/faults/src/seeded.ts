/** Returns random numbers 0 ≤ x < 1. */
export type Random = () => number;

/** mulberry32. The same seed yields the same plan; when its faults hit the processes depends on the machine's speed. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function pickOne<T>(items: readonly T[], random: Random): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("there are no items to pick from");
  return item;
}

/** Picks an item with a probability proportional to its share. */
export function pickByShare<T extends { share: number }>(items: readonly T[], random: Random): T {
  let remaining = random() * items.reduce((sum, { share }) => sum + share, 0);
  for (const item of items) {
    remaining -= item.share;
    if (remaining < 0) return item;
  }
  return items.at(-1)!;
}

export function between(low: number, high: number, random: Random): number {
  return low + random() * (high - low);
}
