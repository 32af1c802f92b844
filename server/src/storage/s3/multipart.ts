import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type MultipartUpload as ListedUpload,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { nullIfObjectMissing } from "../object-errors.ts";
import type { MultipartUpload, MultipartUploads, UploadedPart } from "../object-store.ts";

export interface S3Bucket {
  readonly name: string;
  readonly prefix: string;
  /** Runs one command. Pass the options to `send`. Throws the errors of `ObjectStore`. */
  run<T>(
    operation: (client: S3Client, options: { abortSignal: AbortSignal }) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
}

export function s3MultipartUploads(bucket: S3Bucket): MultipartUploads {
  const addressOf = ({ key, id }: MultipartUpload) => ({
    Bucket: bucket.name,
    Key: bucket.prefix + key,
    UploadId: id,
  });

  async function listBelow(prefix: string): Promise<MultipartUpload[]> {
    const found: ListedUpload[] = [];
    let from: { KeyMarker?: string; UploadIdMarker?: string } = {};
    for (;;) {
      const command = new ListMultipartUploadsCommand({
        Bucket: bucket.name,
        Prefix: bucket.prefix + prefix,
        ...from,
      });
      const page = await bucket.run((s3, options) => s3.send(command, options));
      found.push(...(page.Uploads ?? []));
      if (!page.IsTruncated || !page.NextKeyMarker) break;
      from = {
        KeyMarker: page.NextKeyMarker,
        ...(page.NextUploadIdMarker && { UploadIdMarker: page.NextUploadIdMarker }),
      };
    }
    const initiatedMs = ({ Initiated }: ListedUpload) => Initiated?.getTime() ?? 0;
    return found
      .sort((a, b) => initiatedMs(a) - initiatedMs(b) || ((a.UploadId ?? "") < (b.UploadId ?? "") ? -1 : 1))
      .map(({ Key = "", UploadId = "" }) => ({ key: Key.slice(bucket.prefix.length), id: UploadId }));
  }

  const list = async (key: string) => (await listBelow(key)).filter((upload) => upload.key === key);

  return {
    list,
    listBelow,

    async begin(key) {
      const command = new CreateMultipartUploadCommand({ Bucket: bucket.name, Key: bucket.prefix + key });
      const { UploadId = "" } = await bucket.run((s3, options) => s3.send(command, options));
      return UploadId;
    },

    async sendPart(upload, number, content) {
      const command = new UploadPartCommand({ ...addressOf(upload), PartNumber: number, Body: content });
      const { ETag = "" } = await bucket.run((s3, options) => s3.send(command, options));
      return { number, etag: ETag, sizeBytes: content.length };
    },

    async copyPart(upload, number, { from, start, end }) {
      const command = new UploadPartCopyCommand({
        ...addressOf(upload),
        PartNumber: number,
        CopySource: copySource(bucket.name, bucket.prefix + from),
        CopySourceRange: `bytes=${start}-${end}`,
      });
      await bucket.run((s3, options) => s3.send(command, options));
    },

    async complete(upload, parts) {
      const command = new CompleteMultipartUploadCommand({
        ...addressOf(upload),
        MultipartUpload: { Parts: parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })) },
      });
      await bucket.run((s3, options) => s3.send(command, options));
    },

    async abort(key) {
      for (const upload of await list(key)) {
        const command = new AbortMultipartUploadCommand(addressOf(upload));
        await bucket.run((s3, options) => s3.send(command, options)).catch(nullIfObjectMissing);
      }
    },

    async listParts(upload) {
      const parts: UploadedPart[] = [];
      let after: string | undefined;
      do {
        const command = new ListPartsCommand({
          ...addressOf(upload),
          ...(after !== undefined && { PartNumberMarker: after }),
        });
        const page = await bucket.run((s3, options) => s3.send(command, options)).catch(nullIfObjectMissing);
        if (!page) return null;
        for (const { PartNumber = 0, ETag = "", Size = 0 } of page.Parts ?? []) {
          parts.push({ number: PartNumber, etag: ETag, sizeBytes: Size });
        }
        after = page.IsTruncated ? page.NextPartNumberMarker : undefined;
      } while (after !== undefined);
      return parts.sort((a, b) => a.number - b.number);
    },
  };
}

/** Returns the source as a percent-encoded path, as the `x-amz-copy-source` header requires. */
export function copySource(bucket: string, key: string): string {
  return [bucket, ...key.split("/")].map(encodeURIComponent).join("/");
}
