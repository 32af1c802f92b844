import type { Permission } from "@subtext/client/contract/permission";

/** What each permission lets a key do, in words. */
export const PERMISSION_WORDS: Record<Permission, { name: string; hint: string }> = {
  get_video: { name: "Read", hint: "See videos and their transcriptions, and fetch captions and text." },
  create_video: { name: "Upload", hint: "Make videos and send their bytes." },
  delete_video: { name: "Delete", hint: "Remove videos with everything that belongs to them." },
  manage_webhooks: {
    name: "Webhooks",
    hint: "Make, change and delete webhook endpoints, and see their secrets.",
  },
};

/** A request that a key with these permissions may make, for the terminal. */
export function curlWith(key: string, permissions: readonly Permission[], serviceUrl: string): string {
  const authorization = `-H 'Authorization: Bearer ${key}'`;
  if (permissions.includes("get_video")) return `curl ${authorization} ${serviceUrl}/api/v1/videos`;
  if (permissions.includes("manage_webhooks")) {
    return `curl ${authorization} ${serviceUrl}/api/v1/webhook-endpoints`;
  }
  if (permissions.includes("create_video")) {
    const body = `-H 'Content-Type: application/json' -d '{"sizeBytes": 1000, "filename": "test.mp4"}'`;
    return `curl -X POST ${authorization} ${body} ${serviceUrl}/api/v1/videos`;
  }
  return `curl -X DELETE ${authorization} ${serviceUrl}/api/v1/videos/<video id>`;
}
