/**
 * Yields the same items, but fetches up to `count` items ahead while the consumer processes earlier ones. Errors of the
 * source are thrown after the items before them.
 */
export async function* prefetch<T>(items: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const fetched: Promise<IteratorResult<T>>[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let ended = false;
  const fetchNext = () => {
    // Not every iterator supports concurrent calls to `next`.
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
