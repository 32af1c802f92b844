import { AppError } from "../lib/errors.ts";

/**
 * Parses a timestamp that the database can store. Refuses leap seconds, which JavaScript does not support, and years
 * that PostgreSQL writes differently, although ISO 8601 allows both.
 * @param name of the field, for the message
 * @throws AppError `invalid_request`
 */
export function parseTimestamp(text: string, name: string): Date {
  const timestamp = new Date(text);
  const year = timestamp.getUTCFullYear();
  if (year >= 1 && year <= 9999) return timestamp;
  throw new AppError("invalid_request", `body/${name} must be a UTC timestamp in the years 1 to 9999.`);
}
