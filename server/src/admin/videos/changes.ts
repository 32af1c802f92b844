import type { Logger } from "pino";
import { logLevelOf } from "../../lib/outages.ts";
import { databaseTime, type FoundChange, findVideoChanges } from "../../videos/change-queries.ts";
import { findVideos } from "../../videos/list-queries.ts";
import { type QueuePosition, queuePositions } from "../../videos/queue-positions.ts";
import type { VideoChangesView, VideoView } from "../contract/video.ts";
import { toVideoViews, type VideoListDeps } from "./videos.ts";

const POLL_INTERVAL_MS = 1_000;
/** Polls overlap, because a row becomes visible only at its commit, which is later than its timestamp. */
const OVERLAP_MS = 10_000;
/** If a poll finds more changes in an environment, clients are asked to reload the list instead. */
const MAX_CHANGES = 200;
/** Minimum interval between requests to reload, because a reload is expensive and every client does it. */
const RELOAD_INTERVAL_MS = 5_000;
/** Per environment, only the progress of the newest uploads is sent. */
const MAX_UPLOADS = 50;
/** Per environment, only changes to the first queue positions are sent. */
const MAX_POSITIONS = 50;

/** Receives null if there are too many changes to send. */
export type OnChanges = (changes: VideoChangesView | null) => void;

/** Polling state of an environment, shared by all of its subscribers. */
interface Watch {
  subscribers: Set<OnChanges>;
  /** The first poll. It sends nothing and is the baseline for the next one. */
  firstPoll: Promise<void>;
  /** Time of the last poll by the database's clock; null until the first poll completes. */
  queriedAt: Date | null;
  /** JSON of each video in the last poll, keyed by id. The next poll may return the same videos. */
  lastViews: Map<string, string>;
  /** Ids of the deleted videos in the last poll. */
  lastDeleted: Set<string>;
  /** When subscribers were last asked to reload, in milliseconds of `performance.now()`. */
  reloadedAt: number;
  /** Whether subscribers have missed changes and must be asked to reload. */
  needsReload: boolean;
}

/** Publishes changes to videos. Polls once per second for all environments that have subscribers. */
export class VideoChanges {
  readonly #deps: VideoListDeps & { log: Logger };
  readonly #watched = new Map<string, Watch>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: VideoListDeps & { log: Logger }) {
    this.#deps = deps;
  }

  /**
   * Subscribes to an environment. Every change after the promise resolves is sent.
   * @returns a function that unsubscribes
   */
  async subscribe(environmentId: string, onChanges: OnChanges): Promise<() => void> {
    const watch = this.#watched.get(environmentId) ?? this.#watch(environmentId);
    watch.subscribers.add(onChanges);
    const unsubscribe = () => {
      watch.subscribers.delete(onChanges);
      if (watch.subscribers.size > 0 || this.#watched.get(environmentId) !== watch) return;
      this.#watched.delete(environmentId);
      if (this.#watched.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
    try {
      await watch.firstPoll;
    } catch (error) {
      unsubscribe();
      throw error;
    }
    return unsubscribe;
  }

  #watch(environmentId: string): Watch {
    const watch: Watch = {
      subscribers: new Set(),
      firstPoll: Promise.resolve(),
      queriedAt: null,
      lastViews: new Map(),
      lastDeleted: new Set(),
      reloadedAt: Number.NEGATIVE_INFINITY,
      needsReload: false,
    };
    this.#watched.set(environmentId, watch);
    watch.firstPoll = this.#query(new Map([[environmentId, watch]]));
    this.#timer ??= this.#schedule();
    return watch;
  }

  #schedule(): NodeJS.Timeout {
    const timer = setTimeout(async () => {
      const ready = new Map([...this.#watched].filter(([, { queriedAt }]) => queriedAt !== null));
      try {
        if (ready.size > 0) await this.#query(ready);
      } catch (error) {
        if (this.#watched.size > 0) {
          this.#deps.log[logLevelOf(error, "warn")]({ err: error }, "could not query the changes to videos");
        }
      }
      // If all subscribers left in the meantime, the timer was removed or replaced.
      if (this.#timer === timer) this.#timer = this.#schedule();
    }, POLL_INTERVAL_MS);
    return timer;
  }

  async #query(watches: ReadonlyMap<string, Watch>): Promise<void> {
    const { db, capacity } = this.#deps;
    const now = await databaseTime(db);
    const lastPollTimes = [...watches.values()].map((watch) => (watch.queriedAt ?? now).getTime());
    const since = new Date(Math.min(...lastPollTimes) - OVERLAP_MS);
    const found = await findVideoChanges(db, [...watches.keys()], {
      since,
      maxChanged: MAX_CHANGES + 1,
      maxUploading: MAX_UPLOADS,
    });
    const positions = await queuePositions(db, capacity);
    const ids = new Set(found.filter(({ kind }) => kind !== "deleted").map(({ id }) => id));
    for (const id of videosWithWatchedPosition(positions, watches)) ids.add(id);
    const views = await toVideoViews(this.#deps, await findVideos(db, [...ids]), positions);
    const changesByEnvironment = Map.groupBy(found, ({ environmentId }) => environmentId);
    const viewsByEnvironment = Map.groupBy(views, ({ environmentId }) => environmentId);
    for (const [environmentId, watch] of watches) {
      publishChanges(watch, {
        changes: changesByEnvironment.get(environmentId) ?? [],
        views: viewsByEnvironment.get(environmentId) ?? [],
      });
      watch.queriedAt = now;
    }
  }
}

function videosWithWatchedPosition(
  positions: ReadonlyMap<string, QueuePosition>,
  watches: ReadonlyMap<string, Watch>,
): string[] {
  const counts = new Map<string, number>();
  return [...positions].flatMap(([videoId, { environmentId }]) => {
    const count = counts.get(environmentId) ?? 0;
    if (!watches.has(environmentId) || count >= MAX_POSITIONS) return [];
    counts.set(environmentId, count + 1);
    return [videoId];
  });
}

function publishChanges(
  watch: Watch,
  { changes, views }: { changes: FoundChange[]; views: VideoView[] },
): void {
  const deleted = changes.filter(({ kind }) => kind === "deleted").map(({ id }) => id);
  const currentViews = new Map(views.map((view) => [view.id, JSON.stringify(view)]));
  const unsent = {
    videos: views.filter((view) => watch.lastViews.get(view.id) !== currentViews.get(view.id)),
    deleted: deleted.filter((id) => !watch.lastDeleted.has(id)),
  };
  const isFirst = watch.queriedAt === null;
  watch.lastViews = currentViews;
  watch.lastDeleted = new Set(deleted);
  if (isFirst) return;
  // Counts a burst again as long as polls overlap with it, so clients reload up to three more times. The last reload also
  // returns the changes that were committed late.
  const changed = changes.filter(({ kind }) => kind === "changed");
  const exceedsLimit = Math.max(changed.length, deleted.length) > MAX_CHANGES;
  watch.needsReload ||= exceedsLimit;
  if (watch.needsReload && performance.now() - watch.reloadedAt >= RELOAD_INTERVAL_MS) {
    watch.reloadedAt = performance.now();
    watch.needsReload = false;
    for (const send of watch.subscribers) send(null);
  } else if (!exceedsLimit && (unsent.videos.length > 0 || unsent.deleted.length > 0)) {
    for (const send of watch.subscribers) send(unsent);
  }
}
