/** Reads one value of one column from PostgreSQL's text form. */
type ColumnParser = (text: string) => unknown;

const INT8 = 20;
const BYTEA = 17;
const DATE = 1082;
const TIMESTAMP = 1114;
const INTERVAL = 1186;

/**
 * Where the two drivers would give different JavaScript values for the same column, both read by these.
 *
 * | column | value |
 * |---|---|
 * | `bigint`, `count(*)` | number; beyond ±2^53 − 1 the query throws rather than lose digits |
 * | `numeric` | string |
 * | `timestamptz` | Date |
 * | `timestamp` | Date, read as UTC |
 * | `date` | string, `2026-01-31` |
 * | `interval` | string |
 * | `json`, `jsonb` | the parsed value |
 * | `bytea` | Buffer |
 *
 * Of arrays, those of `text`, `uuid`, `boolean`, `integer`, `double precision` and `timestamptz` are the same
 * on both. As parameters pass Dates, numbers, strings, booleans, Buffers and, for `jsonb`, `JSON.stringify(…)`:
 * pg writes a JavaScript array as a PostgreSQL array, PGlite as the column wants it.
 */
export const COLUMN_PARSERS: Readonly<Record<number, ColumnParser>> = {
  [INT8]: parseSafeInteger,
  [BYTEA]: (text) => Buffer.from(text.slice("\\x".length), "hex"),
  [DATE]: (text) => text,
  [TIMESTAMP]: (text) => new Date(`${text.replace(" ", "T")}Z`),
  [INTERVAL]: (text) => text,
};

function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the bigint ${text} is too large for a number`);
  return value;
}
