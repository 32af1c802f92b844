import { settingAtFault } from "../config/config-error.ts";
import { AppError } from "../lib/errors.ts";
import type { Service, ServiceOptions } from "../main.ts";
import { actAsOwner } from "./act-as-owner.ts";

/** @throws Error with a readable message */
export async function openServiceFor(options: ServiceOptions): Promise<Service> {
  await actAsOwner(options.config.dataFolder);
  // Loaded lazily, because commands that connect to a running service start much faster without it.
  const { openService } = await import("../main.ts");
  try {
    return await openService(options);
  } catch (error) {
    const setting = settingAtFault(error);
    if (setting !== null) throw new Error(`The service could not be opened. ${setting}.`, { cause: error });
    if (error instanceof AppError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The service could not be opened: ${reason}. To find the cause, run: subtext doctor`, {
      cause: error,
    });
  }
}

/** Names the setting that probably caused an error of the database or the bucket, or appends the cause. */
export function explainError(error: unknown): unknown {
  const setting = settingAtFault(error);
  if (setting !== null) return new Error(`${setting}.`, { cause: error });
  if (!(error instanceof Error) || !(error.cause instanceof Error)) return error;
  return new Error(`${error.message} (${error.cause.message})`, { cause: error });
}
