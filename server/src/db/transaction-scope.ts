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
 * Refuses queries that run inside a transaction's callback but not on the transaction. Such a query would wait forever
 * on a database with one connection, and would silently run outside the transaction on a pool.
 */
export class TransactionScope {
  readonly #running = new AsyncLocalStorage<{ open: boolean }>();

  /** @throws AppError `query_outside_transaction` */
  assertOutside(): void {
    // Work that the callback did not await may still run after the transaction has ended, and may then query.
    if (this.#running.getStore()?.open) {
      throw new AppError(
        "query_outside_transaction",
        "a query inside a transaction's callback did not use the transaction",
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

/** Wraps a pool so that it refuses connections to code inside a transaction. */
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

/** Runs the callbacks of `transaction()` and `connection()` inside the scope. Does not cover `startTransaction()`. */
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
