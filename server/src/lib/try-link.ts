import { link } from "node:fs/promises";

/** Error codes if the file system does not support hard links, or not between these two paths. */
const LINK_UNSUPPORTED_CODES = new Set(["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"]);

/** Returns false if the file system cannot create the link. */
export async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (LINK_UNSUPPORTED_CODES.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}
