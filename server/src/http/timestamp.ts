import { AppError } from "../lib/errors.ts";

/**
 * Parses a timestamp that the database can store. ISO 8601 also allows leap seconds, which JavaScript does not support,
 * and years that PostgreSQL formats differently. Both are refused.
 * @param name the field in the error message, such as `body/since`
 * @throws AppError `invalid_request`
 */
export function parseTimestamp(text: string, name: string): Date {
  const timestamp = new Date(text);
  const year = timestamp.getUTCFullYear();
  if (year >= 1 && year <= 9999) return timestamp;
  throw new AppError("invalid_request", `${name} must be a UTC timestamp in the years 1 to 9999.`);
}
