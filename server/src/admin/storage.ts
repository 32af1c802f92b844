import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { type DeletionReview, reviewDeletions } from "../cleanup/review-deletions.ts";
import { restartUnknownFiles } from "../cleanup/unknown-file-queries.ts";
import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import type { StoreOwnership } from "../storage/ownership/store-ownership.ts";
import type { Sources } from "../storage/recording-store.ts";
import type { Storage } from "../storage/transcript-store.ts";

const Acceptance = Type.Object(
  { token: Type.Union([Type.String({ maxLength: 200 }), Type.Null()]) },
  { additionalProperties: false },
);

/** What accepting the store would delete. */
export interface StoreReview extends DeletionReview {
  /** Why nothing is deleted now; null if the store is this database's. */
  stopped: string | null;
  /** Identifies the state of the store that was reviewed. */
  token: string | null;
}

export interface StorageRouteDeps {
  db: Db;
  clock: Clock;
  sources: Sources;
  storage: Storage;
  ownership: StoreOwnership;
}

/** Only the command line on this machine can resume stopped deletions. */
export function registerStorage(app: FastifyInstance, deps: StorageRouteDeps): void {
  const { db, clock, ownership } = deps;

  app.post("/storage-review", async (request): Promise<StoreReview> => {
    requireCommandLine(request);
    const gone = new AbortController();
    request.raw.socket.once("close", () => gone.abort());
    const state = await ownership.look();
    return {
      stopped: state.isOwner ? null : state.message,
      token: state.isOwner ? null : (state.mark?.token ?? null),
      ...(await reviewDeletions(deps, gone.signal)),
    };
  });

  app.post<{ Body: Static<typeof Acceptance> }>(
    "/storage-acceptance",
    { schema: { body: Acceptance } },
    async (request, reply) => {
      requireCommandLine(request);
      // First: the 7 days of files that are unknown now start now, even if this is interrupted.
      await restartUnknownFiles(db, clock.now());
      await ownership.accept(request.body.token);
      request.log.warn("the store was accepted; deletions are resumed");
      return await reply.code(204).send();
    },
  );
}

/** @throws AppError `command_line_required` */
function requireCommandLine({ actor }: FastifyRequest): void {
  if (actor === "command line") return;
  throw new AppError(
    "command_line_required",
    "The store is accepted by the command line: npx subtext storage accept",
  );
}
