import type { Logger } from "pino";
import type { Db } from "../../db/schema.ts";
import type { StoreRecordRow } from "../../db/tables/stored-files.ts";
import { commandLine } from "../../lib/command-line.ts";
import { AppError } from "../../lib/errors.ts";
import { advanceStoreRecord, changedSinceAdvance, readStoreRecord, restartUploadExpiry } from "./queries.ts";
import type { StoreLocation } from "./store-location.ts";
import { newToken, readMark, type StoreMark, writeMark } from "./store-mark.ts";

export type StopReason = "newer_store" | "other_database" | "other_store" | "unclaimed";

export type OwnershipState =
  | { isOwner: true }
  | {
      isOwner: false;
      reason: StopReason;
      message: string;
      /** Null if the store has none. */
      mark: StoreMark | null;
    };

/** The result of a check is valid for this time. */
const CHECK_VALID_MS = 10_000;

/**
 * Decides whether this database may delete files of the store. Store and database each record a generation. After
 * changes, the sweep advances it, first in the database, then in the store, so the store's generation is never ahead,
 * even after crashes. If it is ahead, a newer state of this database has used the store. If the store records another
 * owner, another database has used it. In both cases, nothing is deleted until an operator accepts the store.
 */
export class StoreOwnership {
  readonly #db: Db;
  readonly #location: StoreLocation;
  readonly #log: Logger | null;
  #lastReason: StopReason | null = null;
  #ownedUntil = Number.NEGATIVE_INFINITY;

  /** @param log null for commands, which print the state instead */
  constructor({ db, location, log }: { db: Db; location: StoreLocation; log: Logger | null }) {
    this.#db = db;
    this.#location = location;
    this.#log = log;
  }

  /** Logs when the state changes. */
  async state(): Promise<OwnershipState> {
    return this.#report((await this.#read()).state);
  }

  /** @throws AppError `storage_deletions_stopped` */
  async assertOwner(): Promise<void> {
    if (performance.now() < this.#ownedUntil) return;
    const state = await this.state();
    if (!state.isOwner) throw new AppError("storage_deletions_stopped", state.message);
  }

  /** Advances the generation, unless this database does not own the store or another process was faster. */
  async advance(): Promise<void> {
    const { state, record } = await this.#read();
    if (!this.#report(state).isOwner || !record) return;
    await this.#advanceFrom(record, { to: record.generation + 1, storeId: record.store_id });
  }

  async advanceIfChanged(): Promise<void> {
    if (await changedSinceAdvance(this.#db)) await this.advance();
  }

  /**
   * Makes this database the owner of the store.
   * @param seen the token of the mark that the operator has seen; null if there was none
   * @throws AppError `storage_changed` if the mark has changed since then
   */
  async accept(seen: string | null): Promise<void> {
    const { mark, record } = await this.#read();
    if (!record || (mark?.token ?? null) !== seen) {
      throw new AppError(
        "storage_changed",
        "The store has changed in the meantime, so another service still uses it. Stop that service and try again.",
      );
    }
    await restartUploadExpiry(this.#db);
    const to = Math.max(record.generation, mark?.generation ?? 0) + 1;
    await this.#advanceFrom(record, { to, storeId: mark?.store ?? record.store_id });
    this.#report((await this.#read()).state);
  }

  async #advanceFrom(
    { generation, token, owner }: StoreRecordRow,
    { to, storeId }: { to: number; storeId: string },
  ): Promise<void> {
    const advanced = await advanceStoreRecord(this.#db, {
      from: { generation, token },
      to,
      token: newToken(),
      storeId,
    });
    if (!advanced) return;
    await writeMark(this.#location, {
      store: storeId,
      owner,
      generation: to,
      token: advanced.token,
      writtenAt: new Date().toISOString(),
    });
  }

  async #read(): Promise<{
    state: OwnershipState;
    mark: StoreMark | null;
    record: StoreRecordRow | undefined;
  }> {
    // The store is read first. If another process advances in between, the database is ahead, never the store.
    const mark = await readMark(this.#location);
    const record = await readStoreRecord(this.#db);
    const reason = stopReason(mark, record);
    const state: OwnershipState =
      reason === null
        ? { isOwner: true }
        : { isOwner: false, reason, message: this.#describe(reason, mark, record), mark };
    return { state, mark, record };
  }

  #report(state: OwnershipState): OwnershipState {
    const reason = state.isOwner ? null : state.reason;
    this.#ownedUntil = state.isOwner ? performance.now() + CHECK_VALID_MS : Number.NEGATIVE_INFINITY;
    if (reason !== this.#lastReason) {
      if (state.isOwner) this.#log?.info("the deletion of stored files has resumed");
      else this.#log?.error({ reason: state.reason }, state.message);
      this.#lastReason = reason;
    }
    return state;
  }

  #describe(reason: StopReason, mark: StoreMark | null, record: StoreRecordRow | undefined): string {
    const { name } = this.#location;
    if (reason === "unclaimed") return `When the service starts, ${name} becomes the store of this database.`;
    const lastUse = mark === null ? "" : ` (last used ${mark.writtenAt})`;
    const what = {
      newer_store:
        `The files in ${name} are newer than the database: they are at generation ${mark?.generation}${lastUse}, ` +
        `the database is at ${record?.generation}. An older copy of the database was probably restored.`,
      other_database:
        `The files in ${name} belong to another copy of this database${lastUse}: ` +
        "this one was restored, copied or moved.",
      other_store: `According to the records, ${name} is not the store of this database.`,
    }[reason];
    return `${what} No stored file is deleted until you run \`${commandLine("storage accept")}\`.`;
  }
}

/** Returns null if the database may delete files of the store. */
export function stopReason(
  mark: Pick<StoreMark, "store" | "owner" | "generation" | "token"> | null,
  record: Pick<StoreRecordRow, "store_id" | "owner" | "generation" | "token"> | undefined,
): StopReason | null {
  if (!mark && !record) return "unclaimed";
  if (!mark || !record || mark.store !== record.store_id) return "other_store";
  if (mark.owner !== record.owner) return "other_database";
  if (mark.generation > record.generation) return "newer_store";
  // Two copies of the database have advanced to the same generation.
  return mark.generation === record.generation && mark.token !== record.token ? "newer_store" : null;
}
