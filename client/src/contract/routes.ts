/**
 * Method and path of each operation that the client calls. They are separate from the operations, because the published
 * client does not contain the schemas.
 */
export const ROUTES = {
  listVideos: "GET /api/v1/videos",
  createVideo: "POST /api/v1/videos",
  getVideo: "GET /api/v1/videos/{videoId}",
  deleteVideo: "DELETE /api/v1/videos/{videoId}",
  getTranscription: "GET /api/v1/videos/{videoId}/transcription",
  getTranscriptWords: "GET /api/v1/videos/{videoId}/transcription/words",
  updateTranscriptWords: "PUT /api/v1/videos/{videoId}/transcription/words",
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
} as const;

type Routes = typeof ROUTES;
type MethodOf<Route> = Route extends `${infer Method extends HttpMethod} ${string}` ? Method : never;
type PathOf<Route> = Route extends `${HttpMethod} ${infer Path}` ? Path : never;
type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export function route<Id extends keyof Routes>(
  id: Id,
): { id: Id; method: MethodOf<Routes[Id]>; path: PathOf<Routes[Id]> } {
  const [method, path] = ROUTES[id].split(" ");
  return { id, method: method as MethodOf<Routes[Id]>, path: path as PathOf<Routes[Id]> };
}
