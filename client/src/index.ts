// biome-ignore-all lint/performance/noBarrelFile: the only entry point of the published package
export type { FileInput } from "./arguments.ts";
export { Subtext, type SubtextOptions } from "./client.ts";
export type { ApiErrorCode } from "./contract/api-errors.ts";
export { type ClientErrorCode, type ErrorCode, SubtextError } from "./errors.ts";
export type { Fetch } from "./exchange.ts";
export type { Page, PagedList } from "./paged-list.ts";
export type { RetryPolicy } from "./retry.ts";
export type {
  Completed,
  CompletedTranscription,
  CreatedVideo,
  EndedTranscription,
  FailureCode,
  OtherTranscription,
  OutcomeDetails,
  SkipReason,
  Transcription,
  TranscriptionSummary,
  UploadedVideo,
  UploadingVideo,
  Video,
} from "./states.ts";
export type { Transcriptions, WaitOptions } from "./transcriptions.ts";
export type { PostOptions, RequestOptions } from "./transport.ts";
export type {
  Delivery,
  DeliveryAttempt,
  EditableWord,
  NewVideo,
  NewWebhookEndpoint,
  Operations,
  Redelivering,
  SavedWords,
  TranscriptionCompletedEvent,
  TranscriptionFailedEvent,
  TranscriptionFailure,
  TranscriptionFiles,
  TranscriptionSkippedEvent,
  TranscriptionUpdatedEvent,
  TranscriptWord,
  TranscriptWords,
  TranscriptWordsChange,
  UploadTicket,
  VideoMetadata,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointWithSecret,
  WebhookEvent,
  WebhookTestEvent,
} from "./types.ts";
export { type UploadOptions, type UploadProgress, uploadTo } from "./upload.ts";
export {
  type RawWebhook,
  type ReceivedEvent,
  type VerifiedWebhook,
  type VerifyOptions,
  verifyWebhook,
} from "./verify-webhook.ts";
export type { Videos, VideoUploadOptions } from "./videos.ts";
export type { WebhookEndpoints } from "./webhook-endpoints.ts";
