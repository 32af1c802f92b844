import type { VideoChangesView } from "@subtext/dashboard/contract/video";
import type { Logger } from "pino";
import {
  changedVideoIds,
  databaseTime,
  findVideos,
  listVideosInState,
  queuePlaces,
} from "../../db/video-list.ts";
import { type VideoListDeps, viewVideos } from "./videos.ts";

const LOOK_EVERY_MS = 1_000;
/** Looks overlap, since a write is seen when it commits, later than its time says. */
const OVERLAP_MS = 10_000;
/** Past so many changes at once whoever listens had better read the list anew. */
const MOST_CHANGES = 200;
const WATCHED_UPLOADS = 50;
/** Places near the front are told as they change; the others when the list is read. */
const WATCHED_PLACES = 50;

/** Null: too much has changed to tell it. */
export type OnChanges = (changes: VideoChangesView | null) => void;

/**
 * What happens to the videos of environments, for whoever listens: one look a second for each environment
 * that anyone listens to, however many they are.
 */
export class VideoChanges {
  readonly #deps: VideoListDeps & { log: Logger };
  readonly #watched = new Map<string, Watch>();

  constructor(deps: VideoListDeps & { log: Logger }) {
    this.#deps = deps;
  }

  /** Every change after it resolves is told; the function that it gives ends that. */
  async listen(environmentId: string, onChanges: OnChanges): Promise<() => void> {
    let watch = this.#watched.get(environmentId);
    if (!watch) {
      watch = new Watch(this.#deps, environmentId);
      this.#watched.set(environmentId, watch);
    }
    const { listeners, begun } = watch;
    listeners.add(onChanges);
    const end = () => {
      listeners.delete(onChanges);
      if (listeners.size > 0 || this.#watched.get(environmentId) !== watch) return;
      watch.stop();
      this.#watched.delete(environmentId);
    };
    try {
      await begun;
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }
}

class Watch {
  readonly listeners = new Set<OnChanges>();
  readonly #deps: VideoListDeps & { log: Logger };
  readonly #environmentId: string;
  /** What was told last of each video that may be seen again in the next look. */
  #told = new Map<string, string>();
  #since: Date | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** The first look, which tells nothing: it is what changes are told from. */
  readonly begun: Promise<void>;

  constructor(deps: VideoListDeps & { log: Logger }, environmentId: string) {
    this.#deps = deps;
    this.#environmentId = environmentId;
    this.begun = this.#look();
    this.begun.then(
      () => this.#schedule(),
      () => {},
    );
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(async () => {
      try {
        await this.#look();
      } catch (error) {
        if (!this.#stopped) this.#deps.log.warn({ err: error }, "changes of videos could not be read");
      }
      this.#schedule();
    }, LOOK_EVERY_MS);
  }

  async #look(): Promise<void> {
    const { db } = this.#deps;
    const environmentId = this.#environmentId;
    const now = await databaseTime(db);
    const since = new Date((this.#since ?? now).getTime() - OVERLAP_MS);
    const first = this.#since === null;

    const changed = await changedVideoIds(db, environmentId, { since, limit: MOST_CHANGES + 1 });
    const ids = new Set(changed.slice(0, MOST_CHANGES));
    for (const row of await listVideosInState(db, environmentId, {
      state: "uploading",
      before: null,
      limit: WATCHED_UPLOADS,
    })) {
      ids.add(row.id);
    }
    let watchedPlaces = 0;
    for (const [videoId, place] of await queuePlaces(db)) {
      if (place.environmentId === environmentId && watchedPlaces++ < WATCHED_PLACES) ids.add(videoId);
    }

    const views = await viewVideos(this.#deps, await findVideos(db, [...ids]));
    const told = new Map(views.map((view) => [view.id, JSON.stringify(view)]));
    const news = views.filter((view) => this.#told.get(view.id) !== told.get(view.id));
    const overflow = changed.length > MOST_CHANGES;
    this.#told = told;
    this.#since = now;
    if (first || (news.length === 0 && !overflow)) return;
    for (const tell of this.listeners) tell(overflow ? null : { videos: news });
  }
}
