import { SubtextError } from "./errors.ts";
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from "./retry.ts";

export type FileInput = Blob | ArrayBuffer | Uint8Array;

/** @throws SubtextError `invalid_argument` with the argument's name if the condition is false */
export function requireArgument(condition: boolean, name: string, expected: string): asserts condition {
  if (!condition)
    throw new SubtextError({ code: "invalid_argument", detail: `\`${name}\` must be ${expected}.` });
}

export function requireObject(value: unknown, name: string): void {
  requireArgument(typeof value === "object" && value !== null && !Array.isArray(value), name, "an object");
}

export function requireDuration(value: number | undefined, name: string): void {
  const isDuration = typeof value === "number" && value > 0;
  requireArgument(value === undefined || isDuration, name, "a positive number of milliseconds");
}

export function requireChunkSize(value: number | undefined): void {
  const isSize = typeof value === "number" && value >= 1;
  requireArgument(value === undefined || isSize, "maxChunkBytes", "a positive number of bytes");
}

export function requireSignal(value: AbortSignal | undefined): void {
  requireArgument(
    value === undefined || typeof value?.throwIfAborted === "function",
    "signal",
    "an AbortSignal",
  );
}

export function requireHttpUrl(value: unknown, name: string): URL {
  const isUrl = typeof value === "string" && URL.canParse(value) && /^https?:/i.test(value);
  requireArgument(isUrl, name, "an http or https URL");
  return new URL(value);
}

export function toBlob(file: FileInput): Blob {
  const isBytes = file instanceof ArrayBuffer || ArrayBuffer.isView(file);
  if (isBytes) return new Blob([file as Uint8Array<ArrayBuffer>]);
  const isBlob = typeof file?.slice === "function" && typeof file.size === "number";
  requireArgument(isBlob, "file", "a Blob, a File or bytes");
  return file;
}

export function readRetryPolicy(retry: Partial<RetryPolicy> = {}): RetryPolicy {
  requireObject(retry, "retry");
  const policy = { ...DEFAULT_RETRY_POLICY };
  for (const name of Object.keys(policy) as (keyof RetryPolicy)[]) {
    const value = retry[name] ?? policy[name];
    requireArgument(typeof value === "number" && value >= 0, `retry.${name}`, "a non-negative number");
    policy[name] = value;
  }
  return policy;
}
