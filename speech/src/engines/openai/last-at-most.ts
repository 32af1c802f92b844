/**
 * Returns the index of the last value that is at most `limit`, by binary search; −1 if there is none.
 * @param values sorted in ascending order
 */
export function lastAtMost(values: ArrayLike<number>, limit: number): number {
  let [from, to] = [0, values.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((values[middle] as number) <= limit) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}
