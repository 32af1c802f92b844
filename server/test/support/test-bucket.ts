import { BucketAlreadyOwnedByYou, CreateBucketCommand } from "@aws-sdk/client-s3";
import { type Bucket, type BucketConfig, openBucket } from "../../src/storage/s3/s3-object-store.ts";

interface TestS3 {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** The S3 server that tests may use, as `scripts/start-s3` prints it; null where there is none. */
export function testS3(): TestS3 | null {
  const { TEST_S3 } = process.env;
  return TEST_S3 ? (JSON.parse(TEST_S3) as TestS3) : null;
}

export function testBucketConfig(s3: TestS3, name: string, prefix = ""): BucketConfig {
  const { endpoint, region, accessKeyId, secretAccessKey } = s3;
  return {
    name,
    region,
    endpoint,
    publicEndpoint: null,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    prefix,
  };
}

/** A bucket of its own; it goes when the server goes. */
export async function openTestBucket(s3: TestS3, name: string, prefix = ""): Promise<Bucket> {
  await makeTestBucket(s3, name);
  return openBucket(testBucketConfig(s3, name, prefix));
}

/** One that is there already stays as it is. */
export async function makeTestBucket(s3: TestS3, name: string): Promise<void> {
  const { client, close } = openBucket(testBucketConfig(s3, name));
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } catch (error) {
    if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
  } finally {
    close();
  }
}

/** The settings that let a service use the bucket. */
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
