/**
 * Yields the same items but fetches up to `count` of them ahead, while the consumer processes those before.
 * An error of the source is thrown in place of its item.
 */
export async function* prefetch<T>(items: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const fetched: Promise<IteratorResult<T>>[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let ended = false;
  const fetchNext = () => {
    // One call at a time, because not every iterator supports concurrent calls of `next`.
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
