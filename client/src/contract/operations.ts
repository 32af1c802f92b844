import {
  CREATED_VIDEO,
  DELIVERY_PAGE,
  ENDPOINT,
  ENDPOINT_PAGE,
  ENDPOINT_WITH_SECRET,
  NEW_DELIVERY,
  NEW_ENDPOINT,
  NEW_VIDEO,
  ROTATED_ENDPOINT,
  SAVED_WORDS,
  TEST_DELIVERY,
  TRANSCRIPT_WORDS,
  TRANSCRIPT_WORDS_CHANGE,
  TRANSCRIPTION,
  VIDEO,
  VIDEO_PAGE,
} from "./examples.ts";
import type { Operation } from "./operation.ts";
import { route } from "./routes.ts";
import {
  MAX_TRANSCRIPT_BYTES,
  SavedWords,
  TranscriptWords,
  TranscriptWordsChange,
} from "./transcript-words.ts";
import { Transcription } from "./transcription.ts";
import { CreatedVideo, NewVideo, Video, VideoListQuery, VideoPage } from "./video.ts";
import {
  Delivery,
  DeliveryListQuery,
  DeliveryPage,
  NewWebhookEndpoint,
  RedeliverFailed,
  Redelivering,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointListQuery,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
} from "./webhook-endpoint.ts";

const video = { access: "key", rateLimited: true, group: "Videos" } as const;
const videoId = { videoId: "Video ID" };

const endpoint = {
  access: "key",
  permission: "manage_webhooks",
  rateLimited: true,
  group: "Webhook endpoints",
} as const;
const endpointId = { endpointId: "Webhook endpoint ID" };

const STORAGE_ERRORS = ["storage_unavailable", "storage_object_denied", "storage_object_unusable"] as const;

/** The JSON operations, keyed by ID. */
export const OPERATIONS = {
  listVideos: {
    ...video,
    ...route("listVideos"),
    summary: "List videos",
    description: "Lists the videos in the key's environment, newest first.",
    permission: "get_video",
    query: VideoListQuery,
    success: { status: 200, description: "A page of videos", body: VideoPage, example: VIDEO_PAGE },
    errors: [],
  },
  createVideo: {
    ...video,
    ...route("createVideo"),
    summary: "Create a video for a direct upload",
    description:
      "Returns a short-lived upload URL that a browser can use without a key: pass it to tus-js-client or Uppy as `uploadUrl`. It accepts exactly `sizeBytes` bytes of this video. The upload must start before `expiresAt`; once started, it may continue past that time.",
    permission: "create_video",
    body: NewVideo,
    bodyExample: NEW_VIDEO,
    success: {
      status: 201,
      description: "The video and its upload URL",
      body: CreatedVideo,
      example: CREATED_VIDEO,
    },
    errors: ["invalid_metadata", "payload_too_large", "open_upload_limit_reached", "storage_full"],
  },
  getVideo: {
    ...video,
    ...route("getVideo"),
    summary: "Get a video",
    description:
      "Returns a video with the state of its transcription: why it failed or was skipped, and whether it is incomplete.",
    permission: "get_video",
    params: videoId,
    success: { status: 200, description: "The video", body: Video, example: VIDEO },
    errors: ["video_not_found"],
  },
  deleteVideo: {
    ...video,
    ...route("deleteVideo"),
    summary: "Delete a video",
    description:
      "Deletes the recording, its transcription and files, and cancels pending webhook deliveries. A running upload or transcription stops immediately. A webhook attempt that is already in flight may still arrive.",
    permission: "delete_video",
    params: videoId,
    success: { status: 204, description: "Deleted", body: null },
    errors: ["video_not_found"],
  },
  getTranscription: {
    ...route("getTranscription"),
    group: "Transcriptions",
    summary: "Get the transcription of a video",
    description:
      "Responds with 200 in every state. Every call returns new file URLs, which are valid for 5 minutes. While PENDING or PROCESSING, poll again after `Retry-After` seconds.",
    access: "key",
    permission: "get_video",
    rateLimited: true,
    params: videoId,
    success: {
      status: 200,
      description: "The transcription in any state",
      body: Transcription,
      example: TRANSCRIPTION,
      headers: {
        "Retry-After":
          "Seconds until the next poll; sent while PENDING or PROCESSING, and with `upload_incomplete`",
      },
    },
    errors: ["video_not_found", "transcription_not_found", "upload_incomplete"],
  },
  getTranscriptWords: {
    ...video,
    ...route("getTranscriptWords"),
    group: "Transcriptions",
    summary: "Get the words of a transcript for editing",
    description:
      "Returns the current words with speakers and confidences. The words and times are those of the JSON file.",
    permission: "get_video",
    params: videoId,
    success: {
      status: 200,
      description: "The words",
      body: TranscriptWords,
      example: TRANSCRIPT_WORDS,
      headers: { ETag: "Identifies these words" },
    },
    errors: [
      "video_not_found",
      "transcription_not_found",
      "upload_incomplete",
      "transcription_not_completed",
      "file_not_found",
      ...STORAGE_ERRORS,
    ],
  },
  updateTranscriptWords: {
    ...video,
    ...route("updateTranscriptWords"),
    group: "Transcriptions",
    summary: "Change the words of a transcript",
    description:
      "Replaces all words. Captions, the other files and search results are updated within seconds. Existing file URLs keep serving the previous words until they expire. The recognized original is kept.",
    permission: "edit_transcript",
    params: videoId,
    requestHeaders: {
      "If-Match": {
        description:
          "The `etag` of the words that you changed. If they are no longer current, nothing is saved.",
        // The schema does not enforce this, because a missing header has its own error, `precondition_required`.
        required: true,
        example: TRANSCRIPT_WORDS.etag,
      },
    },
    body: TranscriptWordsChange,
    bodyExample: TRANSCRIPT_WORDS_CHANGE,
    maxBodyBytes: MAX_TRANSCRIPT_BYTES,
    success: {
      status: 200,
      description: "The words were saved",
      body: SavedWords,
      example: SAVED_WORDS,
      headers: { ETag: "Identifies the saved words" },
    },
    errors: [
      "video_not_found",
      "transcription_not_found",
      "upload_incomplete",
      "transcription_not_completed",
      "transcript_changed",
      "invalid_words",
      "precondition_required",
      "storage_full",
      ...STORAGE_ERRORS,
    ],
  },
  listWebhookEndpoints: {
    ...endpoint,
    ...route("listWebhookEndpoints"),
    summary: "List webhook endpoints",
    description: "Lists the webhook endpoints in the key's environment, newest first.",
    query: WebhookEndpointListQuery,
    success: {
      status: 200,
      description: "A page of endpoints",
      body: WebhookEndpointPage,
      example: ENDPOINT_PAGE,
    },
    errors: [],
  },
  createWebhookEndpoint: {
    ...endpoint,
    ...route("createWebhookEndpoint"),
    summary: "Create a webhook endpoint",
    description: "Subscribes a URL to events. Only this response contains the signing secret.",
    body: NewWebhookEndpoint,
    bodyExample: NEW_ENDPOINT,
    success: {
      status: 201,
      description: "The endpoint and its secret",
      body: WebhookEndpointWithSecret,
      example: ENDPOINT_WITH_SECRET,
    },
    errors: ["webhook_url_rejected", "invalid_metadata", "webhook_endpoint_limit_reached"],
  },
  getWebhookEndpoint: {
    ...endpoint,
    ...route("getWebhookEndpoint"),
    summary: "Get a webhook endpoint",
    description: "Returns an endpoint and its health.",
    params: endpointId,
    success: { status: 200, description: "The endpoint", body: WebhookEndpoint, example: ENDPOINT },
    errors: ["webhook_endpoint_not_found"],
  },
  updateWebhookEndpoint: {
    ...endpoint,
    ...route("updateWebhookEndpoint"),
    summary: "Update a webhook endpoint",
    description:
      "Updates the given fields. Pending deliveries go to the new URL. A re-enabled endpoint receives events from then on; use `redeliver-failed` for earlier ones.",
    params: endpointId,
    body: WebhookEndpointChange,
    bodyExample: { enabled: true },
    success: {
      status: 200,
      description: "The updated endpoint",
      body: WebhookEndpoint,
      example: ENDPOINT,
    },
    errors: ["webhook_endpoint_not_found", "webhook_url_rejected", "invalid_metadata"],
  },
  deleteWebhookEndpoint: {
    ...endpoint,
    ...route("deleteWebhookEndpoint"),
    summary: "Delete a webhook endpoint",
    description: "Stops all deliveries to the endpoint and deletes its delivery history.",
    params: endpointId,
    success: { status: 204, description: "Deleted", body: null },
    errors: ["webhook_endpoint_not_found"],
  },
  rotateWebhookSecret: {
    ...endpoint,
    ...route("rotateWebhookSecret"),
    summary: "Rotate the signing secret",
    description:
      "Creates a new secret, which the API returns only in this response. For 24 hours both secrets sign every delivery, so a receiver with either one can verify it. A second rotation within that time invalidates the oldest secret immediately.",
    params: endpointId,
    success: {
      status: 200,
      description: "The endpoint and its new secret",
      body: WebhookEndpointWithSecret,
      example: ROTATED_ENDPOINT,
    },
    errors: ["webhook_endpoint_not_found"],
  },
  sendTestEvent: {
    ...endpoint,
    ...route("sendTestEvent"),
    summary: "Send a test event",
    description:
      "Sends an event of type `webhooks.endpoint.test`, which is signed, retried and listed like any other. No other event has this type.",
    params: endpointId,
    success: {
      status: 202,
      description: "The new delivery",
      body: Delivery,
      example: TEST_DELIVERY,
    },
    errors: ["webhook_endpoint_not_found", "webhook_endpoint_disabled"],
  },
  listDeliveries: {
    ...endpoint,
    ...route("listDeliveries"),
    summary: "List deliveries",
    description: "Lists the deliveries to an endpoint with their attempts, newest first.",
    params: endpointId,
    query: DeliveryListQuery,
    success: { status: 200, description: "A page of deliveries", body: DeliveryPage, example: DELIVERY_PAGE },
    errors: ["webhook_endpoint_not_found"],
  },
  redeliver: {
    ...endpoint,
    ...route("redeliver"),
    summary: "Redeliver an event",
    description:
      "Resends the event now with the same `webhook-id` and a new retry schedule, regardless of the state of the delivery.",
    params: { ...endpointId, deliveryId: "Delivery ID" },
    success: { status: 202, description: "The updated delivery", body: Delivery, example: NEW_DELIVERY },
    errors: ["webhook_endpoint_not_found", "delivery_not_found", "webhook_endpoint_disabled"],
  },
  redeliverFailed: {
    ...endpoint,
    ...route("redeliverFailed"),
    summary: "Redeliver failed events",
    description:
      "Resends deliveries created at or after `since` that failed, were canceled, or are awaiting retry. Repeat the call while `hasMore` is true.",
    params: endpointId,
    body: RedeliverFailed,
    bodyExample: { since: "2026-01-01T00:00:00.000Z" },
    success: {
      status: 202,
      description: "The number of deliveries that are resent",
      body: Redelivering,
      example: { count: 12, hasMore: false },
    },
    errors: ["webhook_endpoint_not_found", "webhook_endpoint_disabled"],
  },
} as const satisfies Record<string, Operation>;
