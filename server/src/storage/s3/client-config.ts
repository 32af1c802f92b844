import type { S3ClientConfig } from "@aws-sdk/client-s3";

/** A bucket of Amazon S3 or of a server with a compatible API. */
export interface S3Config {
  kind: "s3";
  name: string;
  region: string;
  /** Null for AWS. */
  endpoint: string | null;
  /** The endpoint in presigned URLs for clients; null if clients use `endpoint`. */
  publicEndpoint: string | null;
  /** Uses `https://host/bucket/key` instead of `https://bucket.host/key`. */
  forcePathStyle: boolean;
  /** Null to use the default credential chain of the AWS SDK: environment, shared files, IAM role. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  prefix: string;
}

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
