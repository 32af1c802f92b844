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
const WATCHED_UPLOADS = 50;
/** Only changes of the first queue positions are sent. */
const WATCHED_POSITIONS = 50;

/** Receives null if there are too many changes to send. */
export type OnChanges = (changes: VideoChangesView | null) => void;

/** State of polling one environment, shared by all subscribers. */
interface Watch {
  listeners: Set<OnChanges>;
  /** The first poll. It sends nothing and is the baseline for the next one. */
  firstPoll: Promise<void>;
  /** Time of the last poll by the database's clock; null until the first poll completes. */
  queriedAt: Date | null;
  /** The last state sent for each video that the next poll may return again. */
  sent: Map<string, string>;
  /** Deletions that were sent and that polls will return again. */
  gone: Set<string>;
  /** When subscribers were last asked to reload, in milliseconds of `performance.now()`. */
  reloadedAt: number;
  /** Subscribers have missed changes and must be asked to reload. */
  needsReload: boolean;
}

/** Publishes changes to videos. A single query per second covers all environments that have subscribers. */
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
  async listen(environmentId: string, onChanges: OnChanges): Promise<() => void> {
    const watch = this.#watched.get(environmentId) ?? this.#watch(environmentId);
    watch.listeners.add(onChanges);
    const end = () => {
      watch.listeners.delete(onChanges);
      if (watch.listeners.size > 0 || this.#watched.get(environmentId) !== watch) return;
      this.#watched.delete(environmentId);
      if (this.#watched.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
    try {
      await watch.firstPoll;
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  #watch(environmentId: string): Watch {
    const watch: Watch = {
      listeners: new Set(),
      firstPoll: Promise.resolve(),
      queriedAt: null,
      sent: new Map(),
      gone: new Set(),
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
          this.#deps.log[logLevelOf(error, "warn")]({ err: error }, "changed videos could not be read");
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
    const queriedAt = [...watches.values()].map((watch) => (watch.queriedAt ?? now).getTime());
    const since = new Date(Math.min(...queriedAt) - OVERLAP_MS);
    const found = await findVideoChanges(db, [...watches.keys()], {
      since,
      maxChanged: MAX_CHANGES + 1,
      maxUploading: WATCHED_UPLOADS,
    });
    const positions = await queuePositions(db, capacity);
    const seen = Map.groupBy(found, ({ environmentId }) => environmentId);
    const ids = new Set<string>();
    for (const changes of seen.values()) {
      for (const { kind, id } of changes) if (kind !== "deleted") ids.add(id);
    }
    for (const id of watchedPositions(positions, watches)) ids.add(id);
    const views = await toVideoViews(this.#deps, await findVideos(db, [...ids]), positions);
    const viewed = Map.groupBy(views, ({ environmentId }) => environmentId);
    for (const [environmentId, watch] of watches) {
      publishChanges(watch, { seen: seen.get(environmentId) ?? [], views: viewed.get(environmentId) ?? [] });
      watch.queriedAt = now;
    }
  }
}

function watchedPositions(
  positions: ReadonlyMap<string, QueuePosition>,
  watches: ReadonlyMap<string, Watch>,
): string[] {
  const counts = new Map<string, number>();
  return [...positions].flatMap(([videoId, { environmentId }]) => {
    const count = counts.get(environmentId) ?? 0;
    if (!watches.has(environmentId) || count >= WATCHED_POSITIONS) return [];
    counts.set(environmentId, count + 1);
    return [videoId];
  });
}

function publishChanges(watch: Watch, { seen, views }: { seen: FoundChange[]; views: VideoView[] }): void {
  const deleted = seen.filter(({ kind }) => kind === "deleted").map(({ id }) => id);
  const sent = new Map(views.map((view) => [view.id, JSON.stringify(view)]));
  const unsent = {
    videos: views.filter((view) => watch.sent.get(view.id) !== sent.get(view.id)),
    deleted: deleted.filter((id) => !watch.gone.has(id)),
  };
  const isFirst = watch.queriedAt === null;
  watch.sent = sent;
  watch.gone = new Set(deleted);
  if (isFirst) return;
  const changed = seen.filter(({ kind }) => kind === "changed");
  const exceedsLimit = Math.max(changed.length, deleted.length) > MAX_CHANGES;
  watch.needsReload ||= exceedsLimit;
  if (watch.needsReload && performance.now() - watch.reloadedAt >= RELOAD_INTERVAL_MS) {
    watch.reloadedAt = performance.now();
    watch.needsReload = false;
    for (const send of watch.listeners) send(null);
  } else if (!exceedsLimit && (unsent.videos.length > 0 || unsent.deleted.length > 0)) {
    for (const send of watch.listeners) send(unsent);
  }
}
