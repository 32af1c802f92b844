import { BucketAlreadyOwnedByYou, CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import type { ObjectStore } from "../../src/storage/object-store.ts";
import type { S3Config } from "../../src/storage/s3/client-config.ts";
import { openS3ObjectStore } from "../../src/storage/s3/s3-object-store.ts";

interface TestS3 {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Parses TEST_S3, the output of `scripts/start-s3`. Returns null if it is not set. */
export function testS3(): TestS3 | null {
  const { TEST_S3 } = process.env;
  return TEST_S3 ? (JSON.parse(TEST_S3) as TestS3) : null;
}

export function testBucketConfig(s3: TestS3, name: string, prefix = ""): S3Config {
  const { endpoint, region, accessKeyId, secretAccessKey } = s3;
  return {
    kind: "s3",
    name,
    region,
    endpoint,
    publicEndpoint: null,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    prefix,
  };
}

export async function openTestBucket(s3: TestS3, name: string, prefix = ""): Promise<ObjectStore> {
  await makeTestBucket(s3, name);
  return openS3ObjectStore(testBucketConfig(s3, name, prefix));
}

function testS3Client({ endpoint, region, accessKeyId, secretAccessKey }: TestS3): S3Client {
  return new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
  });
}

/** Creates a bucket unless it exists. */
export async function makeTestBucket(s3: TestS3, name: string): Promise<void> {
  const client = testS3Client(s3);
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } catch (error) {
    if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
  } finally {
    client.destroy();
  }
}

/** Returns the settings of a service that uses the bucket. */
export function bucketEnv(s3: TestS3, name: string): Record<string, string> {
  return {
    S3_BUCKET: name,
    S3_REGION: s3.region,
    S3_ENDPOINT: s3.endpoint,
    S3_FORCE_PATH_STYLE: "true",
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
}
