import { reviewDeletions } from "../cleanup/review-deletions.ts";
import { restartUnknownFiles } from "../cleanup/unknown-file-queries.ts";
import type { Db } from "../db/schema.ts";
import { whileConnected } from "../http/while-connected.ts";
import type { Clock } from "../lib/clock.ts";
import type { StoreOwnership } from "../storage/ownership/store-ownership.ts";
import type { RecordingStore } from "../storage/recording-store.ts";
import type { TranscriptStore } from "../storage/transcript-store.ts";
import { defineHandlers } from "./operation.ts";

export interface StoreDeps {
  db: Db;
  clock: Clock;
  recordings: RecordingStore;
  transcripts: TranscriptStore;
  ownership: StoreOwnership;
}

export function storeHandlers(deps: StoreDeps) {
  const { db, clock, ownership } = deps;
  return defineHandlers({
    "POST /storage-review": async ({ request }) => {
      const state = await ownership.state();
      return {
        stopped: state.isOwner ? null : state.message,
        token: state.isOwner ? null : (state.mark?.token ?? null),
        ...(await whileConnected(request.raw, (signal) => reviewDeletions(deps, signal))),
      };
    },

    "POST /storage-acceptance": async ({ body, request }) => {
      // Runs first, so that unknown files are kept for another 7 days even if a crash interrupts the acceptance.
      await restartUnknownFiles(db, clock.now());
      await ownership.accept(body.token);
      request.log.warn("the store was accepted; deletions are resumed");
    },
  });
}
