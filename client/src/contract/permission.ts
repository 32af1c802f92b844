/** The permissions of API keys, with the texts that the dashboard shows. */
export const PERMISSION_TEXTS = {
  get_video: {
    name: "Read",
    hint: "Read videos and their transcriptions, and download captions and text.",
    example: "/videos",
  },
  edit_transcript: {
    name: "Correct",
    hint: "Change the words of transcripts.",
    example: `/videos/<video id>/transcription/words -X PUT -H 'If-Match: "0.0"' -H 'Content-Type: application/json' -d @words.json`,
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
    hint: "Manage webhook endpoints and rotate their secrets.",
    example: "/webhook-endpoints",
  },
} as const satisfies Record<string, PermissionText>;

export type Permission = keyof typeof PERMISSION_TEXTS;
export const PERMISSIONS = Object.keys(PERMISSION_TEXTS) as Permission[];
/** Permissions of a new key if none are chosen. */
export const DEFAULT_PERMISSIONS: readonly Permission[] = ["get_video", "create_video"];

interface PermissionText {
  name: string;
  hint: string;
  /** A request that requires the permission: a path under `/api/v1`, followed by curl options. */
  example: string;
}
