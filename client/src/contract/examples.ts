/* Examples for the documentation. A test validates each against its schema. */

const fileUrl = (format: string, contentType: string) =>
  `https://subtext.example.com/files/transcripts/transcription_01kaj8z5v6f9fb8q2c3x4n7m0t/1/transcript.${format}?expires=1767323345&name=meeting.en.${format}&type=${encodeURIComponent(contentType)}&signature=J7b0…`;

const file = <const ContentType extends string>(format: string, contentType: ContentType) => ({
  url: encodeURI(fileUrl(format, contentType)),
  expiresAt: "2026-01-02T03:09:05.000Z",
  contentType,
});

const summary = {
  id: "transcription_01kaj8z5v6f9fb8q2c3x4n7m0t",
  status: "COMPLETED",
  language: "en",
  wordCount: 77,
  duration: 43.348,
  createdAt: "2026-01-02T03:04:03.210Z",
  completedAt: "2026-01-02T03:04:05.678Z",
} as const;

const IDS = {
  video: "video_01kaj8z4q1e8m9w3r5t7y2h6n0",
  environment: "env_01kaj8x0a2c4e6g8j1m3p5r7t9",
  endpoint: "endpoint_01kaj90b1d3f5h7k9m2p4r6t8v",
  delivery: "delivery_01kaj93c2e4g6j8m1p3r5t7v9x",
  event: "event_01kaj93c0b2d4f6h8k1n3q5s7v",
};

export const TRANSCRIPTION = {
  id: summary.id,
  videoId: IDS.video,
  environmentId: IDS.environment,
  status: summary.status,
  language: summary.language,
  wordCount: summary.wordCount,
  duration: summary.duration,
  files: {
    vtt: file("vtt", "text/vtt"),
    json: file("json", "application/json"),
    txt: file("txt", "text/plain"),
  },
  createdAt: summary.createdAt,
  completedAt: summary.completedAt,
};

export const TRANSCRIPT_WORDS_CHANGE = {
  words: [
    { word: "Good", start: 0.32, end: 0.55, speaker: "Ada", confidence: 0.98, channel: 1 },
    { word: "morning,", start: 0.55, end: 0.97, speaker: "Ada", confidence: 0.42, channel: 1 },
    { word: "everyone.", start: 0.97, end: 1.5, speaker: "Ada", confidence: 0.87, channel: 1 },
  ],
  editSessionId: "5b1f7c1e-52d4-4a8e-9f0a-2f1f6f0f3c11",
};

export const TRANSCRIPT_WORDS = {
  etag: '"0.0"',
  revision: 0,
  words: TRANSCRIPT_WORDS_CHANGE.words.map((word) => ({ ...word, speaker: null })),
};

export const SAVED_WORDS = { etag: '"1.1"', revision: 1 };

export const VIDEO = {
  id: IDS.video,
  environmentId: IDS.environment,
  status: "uploaded",
  filename: "meeting.mp4",
  metadata: { filename: "meeting.mp4", customer: "42" },
  sizeBytes: 18_934_221,
  createdAt: "2026-01-02T03:03:41.007Z",
  uploadedAt: "2026-01-02T03:04:03.210Z",
  transcription: { ...summary, failure: null, skipReason: null, incomplete: false },
};

export const VIDEO_PAGE = { data: [VIDEO], nextCursor: "dmlkZW9fMDFrYWo4ejRxMWU4bTl3M3I1dDd5Mmg2bjA" };

export const NEW_VIDEO = { sizeBytes: 18_934_221, filename: "meeting.mp4", metadata: { customer: "42" } };

export const CREATED_VIDEO = {
  video: { ...VIDEO, status: "uploading", uploadedAt: null, transcription: null },
  upload: {
    url: `https://subtext.example.com/api/v1/uploads/${IDS.video}?expires=1767326621&signature=p0Zr4Yq2`,
    expiresAt: "2026-01-02T04:03:41.000Z",
  },
};

export const ENDPOINT = {
  id: IDS.endpoint,
  environmentId: IDS.environment,
  url: "https://example.com/hooks/subtext",
  eventTypes: ["transcriptions.transcription.completed", "transcriptions.transcription.failed"],
  metadata: { team: "captions" },
  enabled: true,
  disabledAt: null,
  disabledReason: null,
  failingSince: null,
  previousSecretExpiresAt: null,
  createdAt: "2026-01-02T03:00:00.000Z",
};

export const NEW_ENDPOINT = {
  url: "https://example.com/hooks/subtext",
  eventTypes: ["transcriptions.transcription.completed", "transcriptions.transcription.failed"],
  metadata: { team: "captions" },
};

export const ENDPOINT_WITH_SECRET = {
  ...ENDPOINT,
  secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
};

export const ROTATED_ENDPOINT = {
  ...ENDPOINT_WITH_SECRET,
  previousSecretExpiresAt: "2026-01-03T03:00:00.000Z",
};

export const ENDPOINT_PAGE = { data: [ENDPOINT], nextCursor: null };

export const DELIVERY = {
  id: IDS.delivery,
  webhookEndpointId: IDS.endpoint,
  eventId: IDS.event,
  eventType: "transcriptions.transcription.completed",
  transcriptionId: summary.id,
  status: "pending",
  createdAt: "2026-01-02T03:04:05.678Z",
  nextAttemptAt: "2026-01-02T03:04:10.912Z",
  finishedAt: null,
  attempts: [
    {
      number: 1,
      attemptedAt: "2026-01-02T03:04:05.701Z",
      latencyMs: 38,
      statusCode: 503,
      failure: null,
      responseStart: "try again later",
    },
  ],
};

export const NEW_DELIVERY = {
  ...DELIVERY,
  nextAttemptAt: "2026-01-02T03:04:05.678Z",
  attempts: [],
};

export const TEST_DELIVERY = {
  ...NEW_DELIVERY,
  eventType: "webhooks.endpoint.test",
  transcriptionId: null,
};

export const DELIVERY_PAGE = { data: [DELIVERY], nextCursor: null };

const data = { ...TRANSCRIPTION, videoMetadata: VIDEO.metadata };
const withoutFiles = {
  ...data,
  language: null,
  wordCount: null,
  files: null,
  completedAt: null,
};

export const EVENTS = {
  "transcriptions.transcription.completed": {
    type: "transcriptions.transcription.completed",
    timestamp: summary.completedAt,
    data,
    metadata: ENDPOINT.metadata,
  },
  "transcriptions.transcription.failed": {
    type: "transcriptions.transcription.failed",
    timestamp: summary.completedAt,
    data: {
      ...withoutFiles,
      status: "FAILED",
      duration: null,
      error: { code: "unreadable_media", message: "The file contains neither audio nor video." },
    },
    metadata: ENDPOINT.metadata,
  },
  "transcriptions.transcription.skipped": {
    type: "transcriptions.transcription.skipped",
    timestamp: summary.completedAt,
    data: { ...withoutFiles, status: "SKIPPED", reason: "no_audio_track" },
    metadata: ENDPOINT.metadata,
  },
  "transcriptions.transcription.updated": {
    type: "transcriptions.transcription.updated",
    timestamp: "2026-01-02T08:15:30.000Z",
    data,
    metadata: ENDPOINT.metadata,
  },
  "webhooks.endpoint.test": {
    type: "webhooks.endpoint.test",
    timestamp: "2026-01-02T03:00:30.000Z",
    data: { webhookEndpointId: IDS.endpoint, environmentId: IDS.environment },
    metadata: ENDPOINT.metadata,
  },
};
