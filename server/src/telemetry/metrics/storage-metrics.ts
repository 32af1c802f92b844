import { Gauge, type Registry } from "prom-client";

export interface StorageState {
  unknownFiles: number;
  unknownBytes: number;
  deletionsStopped: boolean;
}

/** @returns a function that updates the gauges. It removes unknown values from the scrape */
export function reportStorage(registry: Registry): (state: StorageState | null) => void {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const files = gauge(
    "subtext_unknown_files",
    "Stored files that the database has no record of. Each is deleted after 7 days.",
  );
  const bytes = gauge(
    "subtext_unknown_file_bytes",
    "Total size of stored files that the database has no record of.",
  );
  const stopped = gauge(
    "subtext_storage_deletions_stopped",
    "1 if deletions are suspended because the store belongs to another or a newer database, otherwise 0.",
  );
  return (state) => {
    if (state === null) {
      for (const each of [files, bytes, stopped]) each.remove();
      return;
    }
    files.set(state.unknownFiles);
    bytes.set(state.unknownBytes);
    stopped.set(state.deletionsStopped ? 1 : 0);
  };
}
