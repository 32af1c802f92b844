import type { Random } from "@subtext/bench/seeded";

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
