/**
 * Index of the last value that is not above a limit, by binary search; −1 where all are.
 * @param values none less than the one before it
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
