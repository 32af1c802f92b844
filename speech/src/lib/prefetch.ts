/**
 * The same items, fetched while their reader is busy with those before: at most `count` lie ready beside the
 * one that the reader has. An error of the source is thrown where its item would have come.
 */
export async function* ahead<T>(items: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const fetched: Promise<IteratorResult<T>>[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let ended = false;
  const fetchNext = () => {
    // One after the other: not every iterator takes a second question before it has answered the first.
    const next = last.then(() => iterator.next());
    last = next.then(
      ({ done }) => {
        ended ||= done === true;
      },
      () => {
        ended = true;
      },
    );
    fetched.push(next);
  };
  try {
    for (;;) {
      while (fetched.length <= count && !ended) fetchNext();
      const next = fetched.shift();
      if (next === undefined) return;
      const result = await next;
      if (result.done) return;
      yield result.value;
    }
  } finally {
    await last;
    await iterator.return?.();
  }
}
