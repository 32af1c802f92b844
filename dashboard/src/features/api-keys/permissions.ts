import type { Permission } from "@subtext/client/contract/permission";

interface PermissionText {
  name: string;
  hint: string;
  /** A request that requires the permission: a path under `/api/v1`, followed by curl options. */
  example: string;
}

export const PERMISSION_TEXTS: Record<Permission, PermissionText> = {
  get_video: {
    name: "Read",
    hint: "Read videos and their transcriptions, and download captions and text.",
    example: "/videos",
  },
  create_video: {
    name: "Upload",
    hint: "Create and upload videos.",
    example: `/videos -H 'Content-Type: application/json' -d '{"sizeBytes": 1000, "filename": "test.mp4"}'`,
  },
  delete_video: {
    name: "Delete",
    hint: "Delete videos and all their data.",
    example: "/videos/<video id> -X DELETE",
  },
  manage_webhooks: {
    name: "Webhooks",
    hint: "Manage webhook endpoints and view their secrets.",
    example: "/webhook-endpoints",
  },
};

/** Returns a command that the key's permissions allow, preferably one that only reads. */
export function curlExample(key: string, permissions: readonly Permission[], serviceUrl: string): string {
  const examples = permissions.map((permission) => PERMISSION_TEXTS[permission].example);
  const example = examples.find((request) => !request.includes(" ")) ?? examples[0];
  return `curl -H 'Authorization: Bearer ${key}' ${serviceUrl}/api/v1${example}`;
}
