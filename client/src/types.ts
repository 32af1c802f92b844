import type { Static } from "typebox";
import type { BodyOf, ParamsOf, QueryOf, SuccessOf } from "./contract/operation.ts";
import type { OPERATIONS } from "./contract/operations.ts";
import type * as problem from "./contract/problem.ts";
import type * as words from "./contract/transcript-words.ts";
import type * as transcription from "./contract/transcription.ts";
import type * as video from "./contract/video.ts";
import type * as webhook from "./contract/webhook.ts";
import type * as endpoint from "./contract/webhook-endpoint.ts";

/*
 * Types derived from the schemas of the contract. The published package contains them as plain types without the
 * schemas; a test checks that both match.
 */

/** Input and output of each operation of the API, keyed by its ID. */
export type Operations = {
  -readonly [Id in keyof typeof OPERATIONS]: {
    method: (typeof OPERATIONS)[Id]["method"];
    path: (typeof OPERATIONS)[Id]["path"];
    params: Writable<ParamsOf<(typeof OPERATIONS)[Id]>>;
    query: QueryOf<(typeof OPERATIONS)[Id]>;
    body: BodyOf<(typeof OPERATIONS)[Id]>;
    success: SuccessOf<(typeof OPERATIONS)[Id]>;
  };
};

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

export type Problem = Static<typeof problem.Problem>;
export type TranscriptionFiles = Static<typeof transcription.TranscriptionFiles>;
export type Transcription = Static<typeof transcription.Transcription>;
export type TranscriptWord = Static<typeof transcription.TranscriptWord>;
export type EditableWord = Static<typeof words.EditableWord>;
export type TranscriptWords = Static<typeof words.TranscriptWords>;
export type TranscriptWordsChange = Static<typeof words.TranscriptWordsChange>;
export type SavedWords = Static<typeof words.SavedWords>;
export type TranscriptionFailure = Static<typeof transcription.TranscriptionFailure>;
export type TranscriptionSummary = Static<typeof video.TranscriptionSummary>;
export type VideoMetadata = Static<typeof video.VideoMetadata>;
export type Video = Static<typeof video.Video>;
export type VideoPage = Static<typeof video.VideoPage>;
export type NewVideo = Static<typeof video.NewVideo>;
export type UploadTicket = Static<typeof video.UploadTicket>;
export type CreatedVideo = Static<typeof video.CreatedVideo>;
export type WebhookEndpoint = Static<typeof endpoint.WebhookEndpoint>;
export type WebhookEndpointWithSecret = Static<typeof endpoint.WebhookEndpointWithSecret>;
export type WebhookEndpointPage = Static<typeof endpoint.WebhookEndpointPage>;
export type NewWebhookEndpoint = Static<typeof endpoint.NewWebhookEndpoint>;
export type WebhookEndpointChange = Static<typeof endpoint.WebhookEndpointChange>;
export type DeliveryAttempt = Static<typeof endpoint.DeliveryAttempt>;
export type Delivery = Static<typeof endpoint.Delivery>;
export type DeliveryPage = Static<typeof endpoint.DeliveryPage>;
export type RedeliverFailed = Static<typeof endpoint.RedeliverFailed>;
export type Redelivering = Static<typeof endpoint.Redelivering>;
export type TranscriptionCompletedEvent = Static<typeof webhook.TranscriptionCompletedEvent>;
export type TranscriptionFailedEvent = Static<typeof webhook.TranscriptionFailedEvent>;
export type TranscriptionSkippedEvent = Static<typeof webhook.TranscriptionSkippedEvent>;
export type TranscriptionUpdatedEvent = Static<typeof webhook.TranscriptionUpdatedEvent>;
export type WebhookTestEvent = Static<typeof webhook.WebhookTestEvent>;

/** Every body that a webhook endpoint can receive, discriminated by `type`. */
export type WebhookEvent = {
  [Type in keyof typeof webhook.WEBHOOK_EVENTS]: Static<(typeof webhook.WEBHOOK_EVENTS)[Type]>;
}[keyof typeof webhook.WEBHOOK_EVENTS];
