export interface Page<Item> {
  data: Item[];
  /** The `cursor` of the next page; null on the last page. */
  nextCursor: string | null;
}

/** Loads its pages during iteration: `for await (const item of list)`. */
export class PagedList<Item> implements AsyncIterable<Item> {
  readonly #readPage: (cursor: string | undefined) => Promise<Page<Item>>;
  readonly #cursor: string | undefined;

  constructor(readPage: (cursor: string | undefined) => Promise<Page<Item>>, cursor: string | undefined) {
    this.#readPage = readPage;
    this.#cursor = cursor;
  }

  /** Returns the first page, or the page at the given `cursor`. */
  page(): Promise<Page<Item>> {
    return this.#readPage(this.#cursor);
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor = this.#cursor;
    do {
      const page = await this.#readPage(cursor);
      yield page;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }
}
