import { AppError } from "./errors.ts";

const MAX_METADATA_BYTES = 4096;

/**
 * Holds metadata that comes from outside to what can be kept and sent back unchanged: 4 KB of JSON, and text
 * that PostgreSQL can keep, which is neither U+0000 nor half a character.
 * @param what for the message: whose metadata it is
 * @throws AppError `invalid_metadata`
 */
export function checkMetadata(metadata: Record<string, unknown>, what: string): void {
  const json = JSON.stringify(metadata, (key, value: unknown) => {
    for (const text of [key, value]) {
      if (typeof text === "string" && (text.includes("\0") || !text.isWellFormed())) {
        throw new AppError("invalid_metadata", `${what} may hold neither U+0000 nor lone surrogates.`);
      }
    }
    return value;
  });
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_METADATA_BYTES) {
    throw new AppError(
      "invalid_metadata",
      `${what} may hold ${MAX_METADATA_BYTES} bytes; it holds ${bytes}.`,
    );
  }
}
