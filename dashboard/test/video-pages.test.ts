import type { VideoView } from "@subtext/server/admin/contract/video";
import { VIDEO_STATES, type VideoState } from "@subtext/server/db/enums";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseVideoListView, toListQuery } from "../src/admin-client/video-list-view.ts";
import { applyVideoChanges, updateLoadedVideos } from "../src/hooks/video-changes.ts";

const PAGE_SIZE = 3;

function video(number: number, state: VideoState): VideoView {
  return {
    id: `video_${String(number).padStart(4, "0")}`,
    environmentId: "env",
    state,
    filename: null,
    sizeBytes: null,
    uploadedBytes: null,
    createdAt: "2026-01-02T03:04:05.678Z",
    uploadedAt: null,
    transcription: null,
    poster: null,
    queuePosition: null,
    startsInSeconds: null,
    waitsFor: null,
  };
}

/** Returns the first pages of a list like the server: newest first, and filtered by state. */
function listPages(videos: VideoView[], state: VideoState | null, pages: number) {
  const all = videos
    .filter((each) => state === null || each.state === state)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  return Array.from({ length: pages }, (_, index) => {
    const data = all.slice(index * PAGE_SIZE, (index + 1) * PAGE_SIZE);
    return { data, nextCursor: all.length > (index + 1) * PAGE_SIZE ? "more" : null };
  }).filter(({ data }, index) => index === 0 || data.length > 0);
}

const states = fc.constantFrom(...VIDEO_STATES.slice(0, 3));
const world = fc.uniqueArray(fc.tuple(fc.nat(60), states), { selector: ([number]) => number, maxLength: 20 });

test("after changes, the pages contain what the server would list in their range, in its order", () => {
  fc.assert(
    fc.property(
      world,
      world,
      fc.uniqueArray(fc.nat(60), { maxLength: 5 }),
      fc.option(states, { nil: null }),
      fc.integer({ min: 1, max: 4 }),
      (a, b, c, state, pages) => {
        const before = a.map(([number, each]) => video(number, each));
        const changed = b.map(([number, each]) => video(number, each));
        const known = listPages(before, state, pages);
        const deleted = c.map((number) => video(number, "failed").id);
        const shown = applyVideoChanges(known, state, { videos: changed, deleted }).flatMap(
          ({ data }) => data,
        );

        const changedIds = new Set(changed.map(({ id }) => id));
        const after = [...before.filter(({ id }) => !changedIds.has(id)), ...changed].filter(
          ({ id }) => !deleted.includes(id),
        );
        const isWhole = known.at(-1)?.nextCursor === null;
        const oldest = known.flatMap(({ data }) => data).at(-1)?.id ?? "";
        const expected = listPages(after, state, 100)
          .flatMap(({ data }) => data)
          .filter(({ id }) => isWhole || id >= oldest);
        // The oldest loaded video may have left the list, but all newer ones must be shown.
        const floor = shown.at(-1)?.id ?? "";
        expect(shown).toEqual(isWhole ? expected : expected.filter(({ id }) => id >= floor));
      },
    ),
  );
});

test("the loaded pages are not mutated", () => {
  const pages = listPages([video(1, "pending"), video(2, "pending")], null, 1);
  const copy = structuredClone(pages);
  const videos = [video(2, "completed"), video(3, "uploading")];
  applyVideoChanges(pages, null, { videos, deleted: [video(1, "pending").id] });
  expect(pages).toEqual(copy);
});

test("in any order, loaded videos change in place, and the list is outdated if a video may have moved", () => {
  const pages = listPages([video(1, "pending"), video(2, "pending"), video(3, "failed")], null, 1);
  const shown = (changes: Parameters<typeof updateLoadedVideos>[1]) => {
    const { pages: updated, isOutdated } = updateLoadedVideos(pages, changes);
    return [updated.flatMap(({ data }) => data.map(({ state }) => state)), isOutdated];
  };
  const waits = { ...video(2, "pending"), queuePosition: 3 };
  expect(shown({ videos: [waits], deleted: [] })).toEqual([["failed", "pending", "pending"], false]);
  expect(shown({ videos: [video(2, "completed")], deleted: [] })).toEqual([
    ["failed", "completed", "pending"],
    true,
  ]);
  expect(shown({ videos: [video(4, "pending")], deleted: [] })[1]).toBe(true);
  expect(shown({ videos: [], deleted: [waits.id] })).toEqual([["failed", "pending"], false]);
});

test.each([
  [
    { q: 2026, state: "failed", order: "asc" },
    { q: "2026", state: "failed", order: "asc" },
  ],
  [{ q: "  ", state: "lost", sort: "size", from: "2026-13-01", failure: "'", language: {} }, {}],
  [
    { from: "2026-02-01", to: "2026-02-28" },
    { from: "2026-02-01", to: "2026-02-28" },
  ],
])("the address's parameters %j are read as %j", (params, view) => {
  expect(parseVideoListView(params)).toEqual(view);
});

test("a filter by days includes the last day", () => {
  const { from, until } = toListQuery({ from: "2026-02-27", to: "2026-02-28" });
  expect(Date.parse(until!) - Date.parse(from!)).toBe(2 * 86_400_000);
});
