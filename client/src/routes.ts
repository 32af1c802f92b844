import { requireArgument } from "./arguments.ts";
import type { Operations } from "./types.ts";

/**
 * Method and path of each operation. The list repeats the contract because the SDK does not bundle the schemas. The
 * compiler rejects missing and wrong entries.
 */
export const ROUTES: { [Id in keyof Operations]: `${Operations[Id]["method"]} ${Operations[Id]["path"]}` } = {
  listVideos: "GET /api/v1/videos",
  createVideo: "POST /api/v1/videos",
  getVideo: "GET /api/v1/videos/{videoId}",
  deleteVideo: "DELETE /api/v1/videos/{videoId}",
  getTranscription: "GET /api/v1/videos/{videoId}/transcription",
  listWebhookEndpoints: "GET /api/v1/webhook-endpoints",
  createWebhookEndpoint: "POST /api/v1/webhook-endpoints",
  getWebhookEndpoint: "GET /api/v1/webhook-endpoints/{endpointId}",
  updateWebhookEndpoint: "PATCH /api/v1/webhook-endpoints/{endpointId}",
  deleteWebhookEndpoint: "DELETE /api/v1/webhook-endpoints/{endpointId}",
  rotateWebhookSecret: "POST /api/v1/webhook-endpoints/{endpointId}/rotate-secret",
  sendTestEvent: "POST /api/v1/webhook-endpoints/{endpointId}/test",
  listDeliveries: "GET /api/v1/webhook-endpoints/{endpointId}/deliveries",
  redeliver: "POST /api/v1/webhook-endpoints/{endpointId}/deliveries/{deliveryId}/redeliver",
  redeliverFailed: "POST /api/v1/webhook-endpoints/{endpointId}/redeliver-failed",
};

/**
 * Fills in the path parameters and appends the query.
 * @throws SubtextError `invalid_argument` for an ID that would change the path
 */
export function fillRoute(
  path: string,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, unknown>>,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    // "." and ".." would resolve to another path, "" to the list.
    const isIdentifier =
      typeof value === "string" && !/^\.{0,2}$/.test(value) && !/\p{Surrogate}/u.test(value);
    requireArgument(isIdentifier, name, "an identifier");
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.append(name, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}
