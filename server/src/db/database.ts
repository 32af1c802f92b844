import type { Kysely } from "kysely";
import type { ConstructorOptions } from "pg-boss";
import type { Logger } from "pino";
import type { AppError } from "../lib/errors.ts";

/** PostgreSQL, embedded or external. Both give the same values and errors for the same SQL. */
export interface Database<Schema> {
  /** Refuses, with `query_outside_transaction`, queries outside the transaction from inside its callback. */
  readonly kysely: Kysely<Schema>;
  /** What `new PgBoss` needs to live in this database. Stop pg-boss before `close`. */
  readonly boss: ConstructorOptions;
  readonly kind: "embedded" | "postgres";
  /** Version of the PostgreSQL server: `18.6`. */
  readonly version: string;
  /** State of the connections that `kysely` uses. */
  connections(): Connections;
  /** Throws if the database does not respond. */
  check(): Promise<void>;
  /**
   * Copies a consistent snapshot of the embedded database into a new folder. Null for an external database.
   * @param onSnapshot called at the time of the snapshot, while all other queries wait
   */
  readonly snapshot: ((to: string, options: SnapshotOptions) => Promise<void>) | null;
  /** Waits for running queries; later queries are refused. */
  close(): Promise<void>;
}

export interface SnapshotOptions {
  onSnapshot(query: SnapshotQuery): Promise<void>;
  signal: AbortSignal;
}

export type SnapshotQuery = <Row>(statement: string, values?: readonly unknown[]) => Promise<Row[]>;

export interface Connections {
  open: number;
  /** How many of the open ones are idle. */
  idle: number;
  max: number;
  /** Number of callers that wait for a connection. */
  waiting: number;
}

export interface DatabaseOptions {
  /** `postgres://…`, or null for the embedded database. */
  databaseUrl: string | null;
  /** The folder of the embedded database. Created durably if it is missing; only one process can use it at a time. */
  folder: string;
  log: Logger;
  /**
   * The embedded database crashed, for example because the disk is full. It refuses every query until the process
   * restarts, and then recovers.
   */
  onCrash?: (error: AppError) => void;
}
