import { settingAtFault } from "../config/config-error.ts";
import { commandLine } from "../lib/command-line.ts";
import { AppError } from "../lib/errors.ts";
import { codeOf, isWithin } from "../lib/files.ts";
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
    if (isUnwritable(error, options.config.dataFolder)) {
      const message = `The data folder cannot be written: ${reason}. Give this user access to it, or set DATA_DIR to another folder.`;
      throw new AppError("data_folder_not_writable", message, { cause: error });
    }
    const hint = `To find the cause, run: ${commandLine("doctor")}`;
    throw new Error(`The service could not be opened: ${reason}. ${hint}`, { cause: error });
  }
}

const UNWRITABLE_CODES = ["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST"];

function isUnwritable(error: unknown, dataFolder: string): boolean {
  const { path } = error as NodeJS.ErrnoException;
  if (path === undefined || !UNWRITABLE_CODES.includes(codeOf(error) ?? "")) return false;
  // A parent folder is at fault if the data folder cannot be created.
  return isWithin(path, dataFolder) || isWithin(dataFolder, path);
}

/** Names the setting that probably caused an error of the database or the bucket, or appends the cause. */
export function explainError(error: unknown): unknown {
  const setting = settingAtFault(error);
  if (setting !== null) return new Error(`${setting}.`, { cause: error });
  if (!(error instanceof Error) || !(error.cause instanceof Error)) return error;
  return new Error(`${error.message} (${error.cause.message})`, { cause: error });
}
