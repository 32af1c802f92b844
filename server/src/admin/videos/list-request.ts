import type { VideoSort, VideoState } from "../../db/enums.ts";
import { parseTimestamp } from "../../http/timestamp.ts";
import { AppError } from "../../lib/errors.ts";
import { isPlausibleId } from "../../lib/ids.ts";
import type { Position, VideoFilter } from "../../videos/list-view.ts";

export interface FilterQuery {
  state?: VideoState;
  language?: string;
  failure?: string;
  from?: string;
  until?: string;
  text?: string;
}

/** @throws AppError `invalid_request` */
export function readFilter({ state, language, failure, from, until, text }: FilterQuery): VideoFilter {
  return {
    ...(state && { state }),
    ...(language !== undefined && { language }),
    ...(failure !== undefined && { failure }),
    ...(from !== undefined && { from: parseTimestamp(from, "from") }),
    ...(until !== undefined && { until: parseTimestamp(until, "until") }),
    ...(text !== undefined && { text }),
  };
}

export function encodePosition({ value, id }: Position): string {
  return Buffer.from(JSON.stringify([value, id])).toString("base64url");
}

/** @throws AppError `invalid_request` for a malformed cursor, or one of another order */
export function decodePosition(cursor: string, by: VideoSort): Position {
  const position = parse(Buffer.from(cursor, "base64url").toString());
  const isOfOrder = position && isValueOf(by, position.value);
  if (!isOfOrder) {
    throw new AppError("invalid_request", "The cursor is invalid. Use `nextCursor` of the previous page.");
  }
  return position;
}

function isValueOf(sort: VideoSort, value: Position["value"]): boolean {
  if (sort === "uploaded") return value === null;
  if (sort === "name") return typeof value === "string";
  if (value === null) return true;
  return sort === "words"
    ? Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31
    : typeof value === "number";
}

function parse(json: string): Position | undefined {
  try {
    const [value, id] = JSON.parse(json) as unknown[];
    if (typeof id !== "string" || !isPlausibleId(id)) return undefined;
    if (typeof value === "string")
      return value.includes("\0") || !value.isWellFormed() ? undefined : { value, id };
    return value === null || Number.isFinite(value) ? { value: value as number | null, id } : undefined;
  } catch {
    return undefined;
  }
}
