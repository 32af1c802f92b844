import type { Logger } from "pino";
import type { ObjectStorageConfig } from "../config/object-storage.ts";
import type { ObjectStore } from "./object-store.ts";

/** Opens the configured object storage. Imports its SDK on demand, because it is large. */
export async function openObjectStore(
  config: ObjectStorageConfig,
  log: Logger | null = null,
): Promise<ObjectStore> {
  switch (config.kind) {
    case "s3": {
      const { openS3ObjectStore } = await import("./s3/s3-object-store.ts");
      return openS3ObjectStore(config, log);
    }
  }
}

/** Creates the configured bucket unless it exists. @throws Error if it cannot be created */
export async function createBucket(config: ObjectStorageConfig): Promise<void> {
  switch (config.kind) {
    case "s3": {
      const { createS3Bucket } = await import("./s3/create-bucket.ts");
      return await createS3Bucket(config);
    }
  }
}
