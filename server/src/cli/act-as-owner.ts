import { stat } from "node:fs/promises";
import { nullIfAbsent } from "../lib/files.ts";

/**
 * Switches from root to the owner of the data folder, because the service cannot open files that root creates.
 *
 * @throws Error if the process may not switch to that user
 */
export async function actAsOwner(dataFolder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const owner = await stat(dataFolder).catch(nullIfAbsent);
  if (owner === null || owner.uid === 0) return;
  const { uid, gid } = owner;
  try {
    process.setgroups?.([gid]);
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (error) {
    throw new Error(
      `${dataFolder} belongs to the user with the id ${uid}, and this process cannot switch to that user. Run the command as user ${uid}.`,
      { cause: error },
    );
  }
}
