import { commandLine } from "../../lib/command-line.ts";
import { AppError } from "../../lib/errors.ts";
import type { StoresOptions } from "../stores.ts";
import { checkStore, claimStore } from "./claim-store.ts";
import type { StoreLocation } from "./store-location.ts";
import { StoreOwnership } from "./store-ownership.ts";

/** @throws AppError `data_folder_mismatch`, `installation_missing` */
export async function openOwnership(
  { db, home, create, log }: Pick<StoresOptions, "db" | "home" | "create" | "log">,
  location: StoreLocation,
): Promise<StoreOwnership> {
  const ownership = new StoreOwnership({ db, location, log: create ? log : null });
  if (create) {
    await claimStore({ db, location, home, log });
    await ownership.advance();
  } else if (!(await checkStore(db, location))) throw noInstallation(location);
  return ownership;
}

/** Prevents removals from a store that another database owns. */
export function guardRemoval<T extends { remove(name: string): Promise<void> }>(
  files: T,
  ownership: StoreOwnership,
): T {
  return {
    ...files,
    async remove(name: string) {
      await ownership.assertOwner();
      await files.remove(name);
    },
  };
}

export function noInstallation({ name, setting }: StoreLocation): AppError {
  return new AppError(
    "installation_missing",
    `There is no Subtext installation in ${name}. Check ${setting}; \`${commandLine("serve")}\` creates one.`,
  );
}
