import { useCallback, useMemo, useState } from "react";

interface Picked {
  ids: ReadonlySet<string>;
  /** The video that was last toggled on its own, where the next range starts. */
  anchor: string | null;
}

/** All videos that match the view, whether they are loaded or not. */
interface AllMatching {
  count: number;
  /** Videos that were uploaded later are not included. */
  countedAt: string;
}

export interface Selection {
  /** The loaded videos that are selected, in the order of the list. */
  ids: readonly string[];
  /** Null if only `ids` are selected. */
  all: AllMatching | null;
  count: number;
  has(id: string): boolean;
  /** Toggles a video. With `isRange`, gives all videos up to this one the state of the video that was toggled last. */
  toggle(id: string, isRange: boolean): void;
  selectLoaded(): void;
  selectAll(all: AllMatching): void;
  clear(): void;
}

const NONE: Picked = { ids: new Set(), anchor: null };

/** @param loaded IDs of the loaded videos, in the order of the list. Videos that leave it are no longer selected. */
export function useSelection(loaded: readonly string[]): Selection {
  const [picked, setPicked] = useState(NONE);
  const [all, setAll] = useState<AllMatching | null>(null);
  const ids = useMemo(
    () => (all ? loaded : picked.ids.size === 0 ? [] : loaded.filter((id) => picked.ids.has(id))),
    [all, loaded, picked.ids],
  );
  const toggle = useCallback(
    (id: string, isRange: boolean) => {
      setPicked(({ ids, anchor }) => {
        const next = new Set(all ? loaded : ids);
        const start = isRange && anchor !== null ? loaded.indexOf(anchor) : -1;
        if (start === -1) {
          if (!next.delete(id)) next.add(id);
          return { ids: next, anchor: id };
        }
        const end = loaded.indexOf(id);
        for (const each of loaded.slice(Math.min(start, end), Math.max(start, end) + 1)) {
          if (next.has(anchor!)) next.add(each);
          else next.delete(each);
        }
        return { ids: next, anchor };
      });
      setAll(null);
    },
    [all, loaded],
  );
  return {
    ids,
    all,
    count: all?.count ?? ids.length,
    has: (id) => all !== null || picked.ids.has(id),
    toggle,
    selectLoaded() {
      setPicked({ ids: new Set(loaded), anchor: null });
      setAll(null);
    },
    selectAll: setAll,
    clear() {
      setPicked(NONE);
      setAll(null);
    },
  };
}
