/** Parses a value in PostgreSQL's text format. */
type ColumnParser = (text: string) => unknown;

const INT8 = 20;
const BYTEA = 17;
const DATE = 1082;
const TIMESTAMP = 1114;
const INTERVAL = 1186;

/**
 * Parsers for columns whose JavaScript values would otherwise differ between the two drivers.
 *
 * | column | value |
 * |---|---|
 * | `bigint`, `count(*)` | number; the query throws beyond ±2^53 − 1 instead of losing digits |
 * | `numeric` | string |
 * | `timestamptz` | Date |
 * | `timestamp` | Date, read as UTC |
 * | `date` | string, `2026-01-31` |
 * | `interval` | string |
 * | `json`, `jsonb` | the parsed value |
 * | `bytea` | Buffer |
 *
 * Arrays of `text`, `uuid`, `boolean`, `integer`, `double precision` and `timestamptz` are the same with both drivers.
 * A JavaScript array as a parameter becomes a PostgreSQL array in pg; PGlite converts it according to the column's
 * type. Pass `jsonb` as `JSON.stringify(…)`.
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
