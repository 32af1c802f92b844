import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import type { Clock } from "../../clock.ts";
import type { Db } from "../../db/schema.ts";
import { restartUnknownFiles } from "../../db/unknown-files.ts";
import { AppError } from "../../errors.ts";
import { type DeletionReview, reviewDeletions } from "../../pipeline/review-deletions.ts";
import type { Sources } from "../../storage/sources.ts";
import type { Storage } from "../../storage/storage.ts";
import type { StoreOwnership } from "../../storage/store-ownership.ts";

const Acceptance = Type.Object(
  { token: Type.Union([Type.String({ maxLength: 200 }), Type.Null()]) },
  { additionalProperties: false },
);

/** What accepting the store would lead to. */
export interface StoreReview extends DeletionReview {
  /** Why nothing is deleted now; null if the store is this database's. */
  stopped: string | null;
  /** Names the state of the store that was looked at. */
  token: string | null;
}

export interface StorageRouteDeps {
  db: Db;
  clock: Clock;
  sources: Sources;
  storage: Storage;
  ownership: StoreOwnership;
}

/** Deletions that were stopped are resumed by whoever has the command line of this machine. */
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
      // First: what is unknown now has its 7 days from now, also if this ends in between.
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
