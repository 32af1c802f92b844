import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { clientConfig, type S3Config } from "./client-config.ts";

/**
 * Creates the bucket in the configured region. Does nothing if it exists and belongs to the same account.
 * @throws Error if another account has a bucket with this name
 */
export async function createS3Bucket(config: S3Config): Promise<void> {
  const client = new S3Client(clientConfig(config, config.endpoint));
  try {
    // The SDK adds the region.
    await client.send(new CreateBucketCommand({ Bucket: config.name }));
  } catch (error) {
    const { name } = error as Error;
    if (name === "BucketAlreadyExists") {
      throw new Error(`Another account has a bucket named ${config.name}. Choose another S3_BUCKET.`, {
        cause: error,
      });
    }
    if (name !== "BucketAlreadyOwnedByYou") throw error;
  } finally {
    client.destroy();
  }
}
