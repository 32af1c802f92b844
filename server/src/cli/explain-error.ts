import { settingAtFault } from "../config/config-error.ts";

/** Names the setting that probably caused an error of the database or the bucket, or appends the cause. */
export function explainError(error: unknown): unknown {
  const setting = settingAtFault(error);
  if (setting !== null) return new Error(`${setting}.`, { cause: error });
  if (!(error instanceof Error) || !(error.cause instanceof Error)) return error;
  return new Error(`${error.message} (${error.cause.message})`, { cause: error });
}
