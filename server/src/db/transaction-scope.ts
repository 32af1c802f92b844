import { AsyncLocalStorage } from "node:async_hooks";
import {
  type ConnectionBuilder,
  Kysely,
  type KyselyConfig,
  type PostgresPool,
  type Transaction,
  type TransactionBuilder,
} from "kysely";
import { AppError } from "../lib/errors.ts";

/**
 * Knows whether the running code is inside a transaction's callback. There, a query on any handle but the
 * transaction's own would wait for ever on a database with one connection, and on a pool would silently not
 * belong to the transaction; so it is refused at once, on both.
 */
export class TransactionScope {
  readonly #running = new AsyncLocalStorage<{ open: boolean }>();

  /** @throws AppError `query_outside_transaction` */
  assertOutside(): void {
    // Work that the callback left behind may go on after the transaction has ended.
    if (this.#running.getStore()?.open) {
      throw new AppError(
        "query_outside_transaction",
        "inside a transaction, a query was made on another handle than the transaction's own",
      );
    }
  }

  async run<T>(callback: () => Promise<T>): Promise<T> {
    const state = { open: true };
    try {
      return await this.#running.run(state, callback);
    } finally {
      state.open = false;
    }
  }
}

/** A pool that gives no connection to code that runs inside a transaction. */
export function guardPool(pool: PostgresPool, scope: TransactionScope): PostgresPool {
  return {
    options: pool.options,
    ...(pool.Client && { Client: pool.Client }),
    async connect() {
      scope.assertOutside();
      return await pool.connect();
    },
    end: () => pool.end(),
  };
}

/** Tells the scope about every `transaction()` and `connection()`; `startTransaction()` is not watched. */
export class ScopedKysely<Schema> extends Kysely<Schema> {
  readonly #scope: TransactionScope;

  constructor(config: KyselyConfig, scope: TransactionScope) {
    super(config);
    this.#scope = scope;
  }

  override transaction(): TransactionBuilder<Schema> {
    return this.#watch(super.transaction());
  }

  override connection(): ConnectionBuilder<Schema> {
    const builder = super.connection();
    const execute = builder.execute.bind(builder);
    builder.execute = <T>(callback: (connection: Kysely<Schema>) => Promise<T>) =>
      execute((connection) => this.#scope.run(() => callback(connection)));
    return builder;
  }

  #watch(builder: TransactionBuilder<Schema>): TransactionBuilder<Schema> {
    const execute = builder.execute.bind(builder);
    const setIsolationLevel = builder.setIsolationLevel.bind(builder);
    const setAccessMode = builder.setAccessMode.bind(builder);
    builder.execute = <T>(callback: (transaction: Transaction<Schema>) => Promise<T>) =>
      execute((transaction) => this.#scope.run(() => callback(transaction)));
    builder.setIsolationLevel = (level) => this.#watch(setIsolationLevel(level));
    builder.setAccessMode = (mode) => this.#watch(setAccessMode(mode));
    return builder;
  }
}
