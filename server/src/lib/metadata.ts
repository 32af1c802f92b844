import { AppError } from "./errors.ts";

const MAX_METADATA_BYTES = 4096;

/**
 * Checks that the database can store metadata from a client and return it unchanged: at most 4 KiB of JSON, without
 * U+0000 or lone surrogates.
 * @param what names the metadata in the error message
 * @throws AppError `invalid_metadata`
 */
export function checkMetadata(metadata: Record<string, unknown>, what: string): void {
  const json = JSON.stringify(metadata, (key, value: unknown) => {
    for (const text of [key, value]) {
      if (typeof text === "string" && (text.includes("\0") || !text.isWellFormed())) {
        throw new AppError("invalid_metadata", `${what} must not contain U+0000 or lone surrogates.`);
      }
    }
    return value;
  });
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_METADATA_BYTES) {
    throw new AppError(
      "invalid_metadata",
      `${what} is limited to ${MAX_METADATA_BYTES} bytes and has ${bytes}.`,
    );
  }
}
