import { requireArgument } from "./arguments.ts";
import type { Operations } from "./types.ts";

/**
 * How each operation is asked for. The schemas stay out of the SDK, so method and path stand here once more;
 * the compiler refuses whatever differs from the contract, and whatever it lacks.
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
 * A path with its variables filled in, and its query.
 * @throws SubtextError `invalid_argument` for an identifier that would make it another path
 */
export function fillRoute(
  path: string,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, unknown>>,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    // URLs are resolved: "." and ".." would ask for what stands above, "" for the list.
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
