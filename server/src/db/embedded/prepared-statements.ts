import { type PGlite, parse, protocol, type Results } from "@electric-sql/pglite";

const { serialize } = protocol;

interface PreparedStatement {
  name: string;
  parameterTypes: readonly number[];
}

/** Runs statements that PostgreSQL parses only once. PGlite's own `query` parses and plans a statement every time. */
export class PreparedStatements {
  readonly #pglite: PGlite;
  readonly #known = new Map<string, PreparedStatement>();

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  async query(statement: string, values: readonly unknown[]): Promise<Results> {
    return await this.#pglite.runExclusive(async () => {
      const { name, parameterTypes } = this.#known.get(statement) ?? (await this.#prepare(statement));
      const texts = values.map((value, index) => this.#toText(value, parameterTypes[index]));
      const messages = await this.#send(
        serialize.bind({ statement: name, values: texts }),
        serialize.describe({ type: "P" }),
        serialize.execute(),
        serialize.sync(),
      );
      return parse.parseResults(messages, this.#pglite.parsers)[0]!;
    });
  }

  async #prepare(text: string): Promise<PreparedStatement> {
    const name = `prepared_${this.#known.size}`;
    const described = await this.#send(
      serialize.parse({ name, text }),
      serialize.describe({ type: "S", name }),
      serialize.sync(),
    );
    const known = { name, parameterTypes: parse.parseDescribeStatementResults(described) };
    this.#known.set(text, known);
    return known;
  }

  #toText(value: unknown, type: number | undefined): string | null {
    if (value === null || value === undefined) return null;
    const toText = type === undefined ? undefined : this.#pglite.serializers[type];
    return toText ? toText(value) : String(value);
  }

  /** Sends all messages in one call, because each call into the database is slow. */
  #send(...messages: Uint8Array[]) {
    return this.#pglite.execProtocolStream(Buffer.concat(messages), { syncToFs: false });
  }
}
