import type { Tenant, TestService } from "./service.ts";

/** Sends the tus request that creates an upload. */
export async function createUpload(
  service: TestService,
  { key }: Tenant,
  headers: Record<string, string>,
  content?: string,
) {
  return await fetch(`${service.url}/api/v1/uploads`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "tus-resumable": "1.0.0", ...headers },
    ...(content !== undefined && { body: content }),
  });
}

/** Sends bytes of an upload. */
export async function patchUpload(
  service: TestService,
  { key }: Tenant,
  location: string,
  offset: number,
  body: Buffer | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
) {
  return await fetch(new URL(location, service.url), {
    method: "PATCH",
    headers: {
      authorization: `Bearer ${key}`,
      "tus-resumable": "1.0.0",
      "upload-offset": String(offset),
      "content-type": "application/offset+octet-stream",
      ...headers,
    },
    body: body instanceof ReadableStream ? body : new Uint8Array(body),
    duplex: "half",
  });
}
