import type { S3ClientConfig } from "@aws-sdk/client-s3";
import type { S3Config } from "../../config/object-storage.ts";

const CONNECT_TIMEOUT_MS = 5_000;
/** Maximum time without traffic in either direction. */
const IDLE_TIMEOUT_MS = 30_000;
/** Three attempts take about a second with the SDK's backoff. Callers retry with longer delays. */
const ATTEMPTS = 3;

export function clientConfig(config: S3Config, endpoint: string | null): S3ClientConfig {
  const { region, forcePathStyle, credentials } = config;
  return {
    region,
    forcePathStyle,
    ...(endpoint !== null && { endpoint }),
    ...(credentials !== null && { credentials }),
    // Many compatible servers refuse the checksums that the SDK sends by default since 2025.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
  };
}
