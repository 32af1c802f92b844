import { GetObjectCommand, S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import fc from "fast-check";
import { expect, test } from "vitest";
import { UrlSigner } from "../../src/storage/s3/url-signer.ts";

const credentials = { accessKeyId: "an id", secretAccessKey: "a secret" };
const MANNERS: [name: string, config: S3ClientConfig][] = [
  ["AWS, the bucket in the host", { region: "eu-central-1", credentials }],
  ["AWS, with the bucket in the path", { region: "eu-central-1", credentials, forcePathStyle: true }],
  [
    "another server with its port",
    { region: "us-east-1", credentials, endpoint: "http://127.0.0.1:9000", forcePathStyle: true },
  ],
  [
    "another server under a path, with a role's credentials",
    {
      region: "us-east-1",
      credentials: { ...credentials, sessionToken: "a token/+=" },
      endpoint: "https://storage.example/s3",
      forcePathStyle: true,
    },
  ],
];

test.each(MANNERS)("a URL equals the SDK's: %s", async (_, config) => {
  const client = new S3Client(config);
  const signer = new UrlSigner(client, "a-bucket");
  const segment = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !/^\.{0,2}$|\//.test(text));
  const key = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join("/"));
  await fc.assert(
    fc.asyncProperty(
      key,
      fc.string({ minLength: 1 }),
      fc.integer({ min: 1, max: 604_800 }),
      async (...drawn) => {
        const [Key, disposition, lifetimeSeconds] = drawn;
        const signingDate = new Date("2026-11-21T00:00:00Z");
        const command = new GetObjectCommand({
          Bucket: "a-bucket",
          Key,
          ResponseContentDisposition: disposition,
          ResponseCacheControl: "private, no-store",
        });
        const query = {
          "response-content-disposition": disposition,
          "response-cache-control": "private, no-store",
        };
        expect(await signer.sign(Key, { query, lifetimeSeconds, signingDate })).toBe(
          await getSignedUrl(client, command, { expiresIn: lifetimeSeconds, signingDate }),
        );
      },
    ),
  );
  client.destroy();
});
