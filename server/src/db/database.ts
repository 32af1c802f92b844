import type { Kysely } from "kysely";
import type { ConstructorOptions } from "pg-boss";
import type { Logger } from "pino";
import type { AppError } from "../lib/errors.ts";

/** PostgreSQL, in this process or elsewhere; the same SQL, the same values and the same errors from both. */
export interface Database<Schema> {
  /** Refuses, with `query_outside_transaction`, a query beside a transaction from inside its callback. */
  readonly kysely: Kysely<Schema>;
  /** What `new PgBoss` needs to live in this database. Stop pg-boss before `close`. */
  readonly boss: ConstructorOptions;
  readonly kind: "embedded" | "postgres";
  /** Of the PostgreSQL server: `18.6`. */
  readonly version: string;
  /** How those stand that `kysely` uses. */
  connections(): Connections;
  /** Throws where the database does not answer. */
  check(): Promise<void>;
  /**
   * Copies the embedded database, as it stands at one moment, into a folder that is made. Null for a database that is
   * a server of its own.
   * @param atMoment is called at that moment, for which all others wait
   */
  readonly snapshot: ((to: string, options: SnapshotOptions) => Promise<void>) | null;
  /** Waits for what is running; queries made later are refused. */
  close(): Promise<void>;
}

export interface SnapshotOptions {
  atMoment(query: MomentQuery): Promise<void>;
  signal: AbortSignal;
}

export type MomentQuery = <Row>(statement: string, values?: readonly unknown[]) => Promise<Row[]>;

export interface Connections {
  open: number;
  /** Of those that are open. */
  idle: number;
  max: number;
  /** Users that wait for one. */
  waiting: number;
}

export interface DatabaseOptions {
  /** `postgres://…`, or null for the embedded database. */
  databaseUrl: string | null;
  /** Where the embedded database lives. Made, durably, where it does not exist; of one process at a time. */
  folder: string;
  log: Logger;
  /**
   * The embedded database could not go on safely, say because the disk is full; it refuses every query until
   * the process starts anew, and then recovers by itself.
   */
  onCrash?: (error: AppError) => void;
}
