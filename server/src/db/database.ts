import type { Kysely } from "kysely";
import type { ConstructorOptions } from "pg-boss";
import type { Logger } from "pino";
import type { AppError } from "../lib/errors.ts";

/** A PostgreSQL database, embedded or external. The same SQL returns the same values and errors on both. */
export interface Database<Schema> {
  /** Inside a transaction's callback, a query that does not use the transaction throws `query_outside_transaction`. */
  readonly kysely: Kysely<Schema>;
  /** Options for `new PgBoss`. Stop pg-boss before `close`. */
  readonly boss: ConstructorOptions;
  readonly kind: "embedded" | "postgres";
  /** For example `18.6`. */
  readonly version: string;
  connections(): Connections;
  check(): Promise<void>;
  /**
   * Copies a consistent snapshot of the embedded database into a new folder. Null for an external database.
   * @param onSnapshot called at the time of the snapshot, while all other queries wait
   */
  readonly snapshot: ((to: string, options: SnapshotOptions) => Promise<void>) | null;
  /** Waits for running queries. Later queries fail. */
  close(): Promise<void>;
}

export interface SnapshotOptions {
  onSnapshot(query: SnapshotQuery): Promise<void>;
  signal: AbortSignal;
}

export type SnapshotQuery = <Row>(statement: string, values?: readonly unknown[]) => Promise<Row[]>;

export interface Connections {
  open: number;
  idle: number;
  max: number;
  /** Callers that wait for a connection. */
  waiting: number;
}

export interface DatabaseOptions {
  /** `postgres://…`, or null for the embedded database. */
  databaseUrl: string | null;
  /** The folder of the embedded database, created if it is missing. Only one process can use it at a time. */
  folder: string;
  log: Logger;
  /**
   * Called when the embedded database has crashed, for example because the disk is full. It then refuses every query. A
   * restart of the process recovers it.
   */
  onCrash?: (error: AppError) => void;
}
