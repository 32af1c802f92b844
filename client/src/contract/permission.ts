export const PERMISSIONS = ["get_video", "create_video", "delete_video", "manage_webhooks"] as const;
export type Permission = (typeof PERMISSIONS)[number];
