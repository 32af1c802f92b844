import { type Static, type TProperties, Type } from "typebox";
import { SkipReason, Transcription, TranscriptionFailure } from "./transcription.ts";
import { timestamp } from "./values.ts";
import { VideoMetadata } from "./video.ts";

export const EVENT_TYPES = [
  "transcriptions.transcription.completed",
  "transcriptions.transcription.failed",
  "transcriptions.transcription.skipped",
  "transcriptions.transcription.updated",
] as const;
/** Events about the end of a transcription. The dashboard and the CLI subscribe new endpoints to these by default. */
export const FINAL_EVENT_TYPES = [EVENT_TYPES[0], EVENT_TYPES[1], EVENT_TYPES[2]] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Sent only on request. */
export const TEST_EVENT_TYPE = "webhooks.endpoint.test";
export type SentEventType = EventType | typeof TEST_EVENT_TYPE;

/** Timeout for connecting, including DNS, and again for the request and the response headers. */
export const WEBHOOK_TIMEOUT_SECONDS = 15;

const EndpointMetadata = Type.Record(Type.String(), Type.Unknown(), {
  description: "Metadata of the endpoint",
});

function eventSchema<const Kind extends SentEventType, Data extends TProperties>(
  id: string,
  kind: Kind,
  data: Data,
) {
  return Type.Object(
    {
      type: Type.Literal(kind),
      timestamp: timestamp("When the event occurred, ISO 8601 UTC with milliseconds"),
      data: Type.Object(data, { additionalProperties: false }),
      metadata: EndpointMetadata,
    },
    { $id: id, additionalProperties: false },
  );
}

const fields = { ...Transcription.properties, videoMetadata: VideoMetadata };

export const TranscriptionCompletedEvent = eventSchema("TranscriptionCompletedEvent", EVENT_TYPES[0], fields);

export const TranscriptionFailedEvent = eventSchema("TranscriptionFailedEvent", EVENT_TYPES[1], {
  ...fields,
  error: TranscriptionFailure,
});

export const TranscriptionSkippedEvent = eventSchema("TranscriptionSkippedEvent", EVENT_TYPES[2], {
  ...fields,
  reason: SkipReason,
});

export const TranscriptionUpdatedEvent = eventSchema("TranscriptionUpdatedEvent", EVENT_TYPES[3], fields);

export const WebhookTestEvent = eventSchema("WebhookTestEvent", TEST_EVENT_TYPE, {
  webhookEndpointId: Type.String(),
  environmentId: Type.String(),
});

/** Schemas of webhook bodies, keyed by `type`. */
export const WEBHOOK_EVENTS = {
  [EVENT_TYPES[0]]: TranscriptionCompletedEvent,
  [EVENT_TYPES[1]]: TranscriptionFailedEvent,
  [EVENT_TYPES[2]]: TranscriptionSkippedEvent,
  [EVENT_TYPES[3]]: TranscriptionUpdatedEvent,
  [TEST_EVENT_TYPE]: WebhookTestEvent,
} as const satisfies Record<SentEventType, unknown>;

export type WebhookTestEvent = Static<typeof WebhookTestEvent>;

/** The body of a webhook about a transcription. */
export interface WebhookPayload {
  type: EventType;
  /** When the event occurred, ISO 8601 UTC with milliseconds. */
  timestamp: string;
  data: Transcription & {
    videoMetadata: VideoMetadata;
    /** Only in `.failed`. */
    error?: { code: string; message: string };
    /** Only in `.skipped`. */
    reason?: string;
  };
  metadata: Record<string, unknown>;
}
