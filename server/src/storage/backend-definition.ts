import type { Logger } from "pino";
import type { SettingFacts, SettingsSource } from "../lib/setting.ts";
import type { ObjectStore } from "./object-store.ts";

/** The parts of a backend's configuration that other modules use. */
export interface AnyObjectStorageConfig {
  /** Key of the backend in the registry. */
  kind: string;
  name: string;
  /** Null for the provider's own service. */
  endpoint: string | null;
  /** Prefix of every key: empty, or ends with a slash. */
  prefix: string;
}

/**
 * How to configure and open an object store. Definitions must import the SDK on demand, because it is large and most
 * commands do not need it.
 */
export interface BackendDefinition<Config extends AnyObjectStorageConfig> {
  /** Keyed by environment variable. */
  settings: Readonly<Record<string, SettingFacts>>;
  /** The setting that enables the backend by naming a bucket. The other settings require it. */
  enabledBy: string;
  /** All settings of the backend, for messages, such as `S3_…`. */
  settingsPattern: string;
  read(settings: SettingsSource, name: string): Config;
  open(config: Config, log: Logger | null): Promise<ObjectStore>;
  /** Creates the bucket unless it exists. @throws Error if it cannot be created */
  createBucket(config: Config): Promise<void>;
  /** Explains which setting causes an error and what is wrong with it, keyed by the name of the error. */
  settingsByError: Readonly<Record<string, string>>;
}
