import type { Logger } from "pino";
import type { SettingsSource } from "../lib/setting.ts";
import type { BackendDefinition } from "./backend-definition.ts";
import type { ObjectStore } from "./object-store.ts";
import { s3 } from "./s3/definition.ts";

const BACKENDS = { s3 };

/** Settings of all backends, keyed by environment variable. */
export const BACKEND_SETTINGS = { ...s3.settings };

type BackendKind = keyof typeof BACKENDS;
const KINDS = Object.keys(BACKENDS) as BackendKind[];

/** The object storage for recordings and transcripts. */
export type ObjectStorageConfig = ReturnType<(typeof BACKENDS)[BackendKind]["read"]>;

/** The settings that enable a backend, for messages: `S3_BUCKET`. */
export const BUCKET_SETTING = KINDS.map((kind) => backend({ kind }).enabledBy).join(" or ");

/** Keyed by the name of an error; see `BackendDefinition`. */
export const SETTINGS_BY_STORAGE_ERROR = Object.assign(
  {},
  ...KINDS.map((kind) => backend({ kind }).settingsByError),
) as Record<string, string>;

/** Returns null if no backend is enabled. */
export function readObjectStorage(settings: SettingsSource): ObjectStorageConfig | null {
  const enabled: ObjectStorageConfig[] = [];
  for (const kind of KINDS) {
    const { enabledBy, settings: facts, read } = backend({ kind });
    const name = settings.text(enabledBy);
    if (name !== null) {
      if (enabled.length > 0) settings.reportInvalid(enabledBy, name, "files can be in only one bucket");
      enabled.push(read(settings, name));
      continue;
    }
    for (const setting of Object.keys(facts)) {
      if (settings.differsFromDefault(setting))
        settings.reportInvalid(setting, "…", `it requires ${enabledBy}`);
    }
  }
  return enabled[0] ?? null;
}

export async function openObjectStore(
  config: ObjectStorageConfig,
  log: Logger | null = null,
): Promise<ObjectStore> {
  return await backend(config).open(config, log);
}

export async function createBucket(config: ObjectStorageConfig): Promise<void> {
  await backend(config).createBucket(config);
}

export function settingsPatternOf(config: ObjectStorageConfig): string {
  return backend(config).settingsPattern;
}

function backend({ kind }: { kind: BackendKind }): BackendDefinition<ObjectStorageConfig> {
  return BACKENDS[kind] as BackendDefinition<ObjectStorageConfig>;
}
