import type { VideoView } from "@subtext/server/admin/contract/video";
import type { VideoSort } from "@subtext/server/db/enums";
import { Link, useSearch } from "@tanstack/react-router";
import { defaultRangeExtractor, type Range, useWindowVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import type { VideoListView } from "../../admin-client/video-list-view.ts";
import { useNow } from "../../hooks/use-now.ts";
import { videoList as texts } from "../../messages/en/video-list.ts";
import { DownIcon, UpIcon } from "../../ui/icons.tsx";
import { videoName } from "../../ui/video-state.tsx";
import { COLUMNS, nextOrder, sortState, withSort } from "./columns.ts";
import { useRowFocus } from "./use-row-focus.ts";
import type { Selection } from "./use-selection.ts";
import { SkeletonCells, VideoRow } from "./video-row.tsx";
import css from "./video-table.module.css";

const OVERSCAN = 8;
/** While the scroll bar is dragged, every frame shows other rows, and those outside the view would double the work. */
const JUMP_OVERSCAN = 1;
/** After this many jumps without a pause, nobody reads the rows, and rendering them would delay frames. */
const MAX_JUMPS_WITH_CONTENT = 1;
/** Must match `--row` in the style sheet. */
const ROW_REM = { table: 4.25, cards: 7.75 };
const CARDS = "(max-width: 52rem)";

/**
 * @param props.ids IDs of `videos`
 * @param props.isComplete whether `videos` are all videos of the list
 */
export function VideoTable({
  videos,
  ids,
  selection,
  isComplete,
  onEndVisible,
}: {
  videos: readonly VideoView[];
  ids: readonly string[];
  selection: Selection;
  isComplete: boolean;
  onEndVisible(): void;
}) {
  const now = useNow(30_000);
  const body = useRef<HTMLTableSectionElement>(null);
  const rowHeight = useRowHeight();
  const focused = useRef<number | null>(null);
  const visible = useRef<Range | null>(null);
  const jumps = useRef(0);
  const virtualizer = useWindowVirtualizer({
    count: videos.length,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    scrollMargin: body.current?.offsetTop ?? 0,
    scrollPaddingStart: 4 * rowHeight,
    scrollPaddingEnd: rowHeight,
    getItemKey: useCallback((index: number) => ids[index]!, [ids]),
    // The focused row must stay, or it would lose the focus when it scrolls out of view.
    rangeExtractor: (range) => {
      jumps.current = isJump(visible.current, range) ? jumps.current + 1 : 0;
      const overscan = jumps.current > 0 ? JUMP_OVERSCAN : range.overscan;
      visible.current = range;
      const rows = defaultRangeExtractor({ ...range, overscan });
      const { current } = focused;
      return current === null || rows.includes(current) || current >= videos.length
        ? rows
        : [...rows, current].sort((a, b) => a - b);
    },
  });
  const scrollTo = useCallback((index: number) => virtualizer.scrollToIndex(index), [virtualizer]);
  focused.current = useRowFocus(body, ids, { scrollTo, select: selection.toggle });
  useLayoutEffect(() => {
    if (rowHeight > 0) virtualizer.measure();
  }, [virtualizer, rowHeight]);
  useScrollAnchor(ids, rowHeight, virtualizer.options.scrollMargin);

  if (!virtualizer.isScrolling) jumps.current = 0;
  const showsContent = jumps.current <= MAX_JUMPS_WITH_CONTENT;
  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  const isNearEnd = !isComplete && last >= videos.length - 3 * OVERSCAN;
  useLayoutEffect(() => {
    if (isNearEnd) onEndVisible();
  }, [isNearEnd, onEndVisible]);

  return (
    <table className={css.table} aria-label={texts.title} aria-rowcount={isComplete ? videos.length + 1 : -1}>
      <Header selection={selection} total={videos.length} />
      <tbody
        className={css.body}
        ref={body}
        style={{ height: virtualizer.getTotalSize() + (isComplete ? 0 : rowHeight) }}
      >
        {rows.map(({ index, key }, position) => {
          const top = (index - 1 - (rows[position - 1]?.index ?? -1)) * rowHeight;
          return showsContent || index === focused.current ? (
            <Row
              key={key}
              video={videos[index]!}
              index={index}
              top={top}
              isSelected={selection.has(ids[index]!)}
              onToggle={selection.toggle}
              now={now}
            />
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: skeletons are the same, and reusing them saves time per frame.
            <SkeletonRow key={position} top={top} />
          );
        })}
        {!isComplete && <SkeletonRow top={(videos.length - 1 - last) * rowHeight} />}
      </tbody>
    </table>
  );
}

/**
 * Most rows have no style of their own: with a different one for each row, browsers spend most of a frame on computing
 * styles.
 * @param props.top height of the rows above that are not rendered
 */
const Row = memo(function Row({
  video,
  index,
  top,
  isSelected,
  onToggle,
  now,
}: {
  video: VideoView;
  index: number;
  top: number;
  isSelected: boolean;
  onToggle: Selection["toggle"];
  now: number;
}) {
  return (
    <tr
      className={css.row}
      aria-rowindex={index + 2}
      data-selected={isSelected || undefined}
      style={top > 0 ? { marginTop: top } : undefined}
    >
      <td className={css.select}>
        <SelectBox video={video} isSelected={isSelected} onToggle={onToggle} />
      </td>
      <VideoRow video={video} now={now} />
    </tr>
  );
});

const SkeletonRow = memo(function SkeletonRow({ top = 0 }: { top?: number }) {
  return (
    <tr className={css.row} style={top > 0 ? { marginTop: top } : undefined}>
      <td className={css.select} />
      <SkeletonCells />
    </tr>
  );
});

const SKELETON_ROWS = [1, 2, 3, 4, 5, 6, 7, 8];

export function TableSkeleton() {
  return (
    <table className={css.table} data-skeleton="" aria-hidden="true">
      <thead className={css.header} />
      <tbody className={css.skeleton}>
        {SKELETON_ROWS.map((number) => (
          <SkeletonRow key={number} />
        ))}
      </tbody>
    </table>
  );
}

/** After a click, the row's link has the focus, so that the keys of the list work. */
function SelectBox({
  video,
  isSelected,
  onToggle,
}: {
  video: VideoView;
  isSelected: boolean;
  onToggle: Selection["toggle"];
}) {
  return (
    <label className={css.box}>
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={texts.select(videoName(video))}
        checked={isSelected}
        onChange={() => {}}
        onClick={(event) => {
          onToggle(video.id, event.shiftKey);
          const row = event.currentTarget.closest("tr");
          row?.querySelector<HTMLElement>("a[data-video]")?.focus({ preventScroll: true });
        }}
      />
    </label>
  );
}

function SelectLoaded({ selection, total }: { selection: Selection; total: number }) {
  const box = useRef<HTMLInputElement>(null);
  const { all, ids } = selection;
  const isAll = all !== null || ids.length === total;
  useLayoutEffect(() => {
    if (box.current) box.current.indeterminate = !isAll && ids.length > 0;
  }, [isAll, ids]);
  return (
    <label className={css.box}>
      <input
        ref={box}
        type="checkbox"
        aria-label={texts.selectLoaded}
        checked={isAll}
        onChange={() => (isAll ? selection.clear() : selection.selectLoaded())}
      />
    </label>
  );
}

const Header = memo(function Header({ selection, total }: { selection: Selection; total: number }) {
  const view = useSearch({ from: "/signed-in/environments/$environmentId/videos" });
  return (
    <thead className={css.header}>
      <tr className={css.headerRow} aria-rowindex={1}>
        <td className={css.select}>
          <SelectLoaded selection={selection} total={total} />
        </td>
        {COLUMNS.map(({ name, sort, isNumber }) => (
          <th
            key={name}
            scope="col"
            data-number={isNumber}
            {...(sort && { "aria-sort": sortState(view, sort) })}
          >
            {sort ? <SortLink name={name} sort={sort} view={view} /> : name}
          </th>
        ))}
      </tr>
    </thead>
  );
});

function SortLink({ name, sort, view }: { name: string; sort: VideoSort; view: VideoListView }) {
  const state = sortState(view, sort);
  return (
    <Link
      className={css.sort}
      from="/environments/$environmentId/videos"
      to="."
      search={withSort(view, sort, nextOrder(state, sort))}
      replace
    >
      {name}
      {state === "ascending" && <UpIcon />}
      {state === "descending" && <DownIcon />}
    </Link>
  );
}

/** When rows are inserted or removed above, scrolls along, so that the rows in view stay where they are. */
function useScrollAnchor(ids: readonly string[], rowHeight: number, top: number): void {
  const before = useRef(ids);
  useLayoutEffect(() => {
    const previous = before.current;
    before.current = ids;
    if (previous === ids) return;
    const index = Math.floor((scrollY - top) / rowHeight);
    const id = previous[index];
    // At the top, new videos must appear.
    if (index < 1 || id === undefined || ids[index] === id) return;
    const moved = ids.indexOf(id) - index;
    if (ids.includes(id) && moved !== 0) scrollBy({ top: moved * rowHeight, behavior: "instant" });
  }, [ids, rowHeight, top]);
}

/** Whether no row stays in view. */
function isJump(before: Range | null, now: Range): boolean {
  return before !== null && (now.startIndex > before.endIndex || now.endIndex < before.startIndex);
}

function useRowHeight(): number {
  const [cards] = useState(() => matchMedia(CARDS));
  const [rem] = useState(() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  const areCards = useSyncExternalStore(
    useCallback(
      (onChange) => {
        cards.addEventListener("change", onChange);
        return () => cards.removeEventListener("change", onChange);
      },
      [cards],
    ),
    () => cards.matches,
  );
  return (areCards ? ROW_REM.cards : ROW_REM.table) * rem;
}
