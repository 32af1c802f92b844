import { randomBytes } from "node:crypto";
import * as tus from "tus-js-client";
import { expect, test } from "vitest";
import { startCuttingProxy } from "../../../test/support/cutting-proxy.ts";
import { createTenant, shareService } from "../support/service.ts";
import { readRecording } from "../support/stored-recording.ts";

const CUTS: readonly number[] = Array(10).fill(64 * 1024);
const service = shareService({ start: false });

test.each([
  ["with a key", true],
  ["by the upload URL of a video, without a key", false],
] as const)(
  "an upload %s whose connection is cut ten times arrives completely with the stock client",
  async (_how, keyed) => {
    const tenant = await createTenant(service, { aiTranscription: false });
    const proxy = await startCuttingProxy(Number(new URL(service.url).port), CUTS);
    const file = randomBytes(3 * 1024 * 1024);
    const headers = { authorization: `Bearer ${tenant.key}` };
    const address = async (): Promise<Partial<tus.UploadOptions>> => {
      if (keyed) return { endpoint: `${proxy.url}/api/v1/uploads`, headers };
      const created = await fetch(`${service.url}/api/v1/videos`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ sizeBytes: file.length }),
      });
      const { upload } = (await created.json()) as { upload: { url: string } };
      return { uploadUrl: upload.url.replace(service.url, proxy.url) };
    };
    const options = await address();
    const url = await new Promise<string>((resolve, reject) => {
      const upload = new tus.Upload(file, {
        ...options,
        retryDelays: Array.from({ length: 2 * CUTS.length }, () => 10),
        onError: reject,
        onSuccess: () => resolve(upload.url ?? ""),
      });
      upload.start();
    });
    expect(proxy.cutsLeft()).toBe(0);
    const id = new URL(url).pathname.split("/").at(-1) ?? "";
    expect((await readRecording(service.service, id))?.equals(file)).toBe(true);
    const video = await fetch(`${service.url}/api/v1/videos/${id}`, { headers });
    expect(await video.json()).toMatchObject({ status: "uploaded", sizeBytes: file.length });
  },
);
