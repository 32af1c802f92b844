import { formatNumber, plural } from "../numbers.ts";
import { translated } from "../translated.ts";

export const settings = translated("settings", {
  title: "Settings",
  description: (environment: string) => `${environment} settings.`,
  environment: "Environment",
  ownersOnly: "Only an owner can change this.",
  wholeNumber: (max: number) => `Enter a whole number from 1 to ${formatNumber(max)}.`,
  aiTranscription: "AI Transcription",
  aiTranscriptionHint: "Automatically create captions, word timings and text.",
  transcribeUploads: "Transcribe new uploads",
  whenOn: "Applies to new uploads. Existing videos don't change.",
  whenOff: "New uploads won't be transcribed, even if you turn this on later. Queued videos still will be.",
  turnedOn: "AI Transcription turned on.",
  turnedOff: "AI Transcription turned off.",
  saved: {
    vocabulary: "Vocabulary saved.",
    retention: "Retention saved.",
    origins: "Allowed websites saved.",
    weight: "Queue weight saved.",
  },
  vocabulary: "Vocabulary",
  vocabularyHint: "Names and products to spell correctly in new transcripts.",
  terms: "Terms",
  termsHint: "One per line, up to 100, most important first. Used by multilingual models and speech servers.",
  retention: "Retention",
  retentionHint: "Automatically delete old videos. This can't be undone.",
  whatToDelete: "What to delete",
  retentionOptions: {
    nothing: { name: "Keep everything", hint: "Until deleted manually." },
    recording: { name: "Delete recordings", hint: "Keep transcripts, captions and search." },
    video: { name: "Delete videos", hint: "With their transcripts and captions." },
  },
  deleteAfter: "Delete after (days)",
  deleteAfterHint:
    "Counted from when transcription finished or failed, or from upload. Queued videos are kept.",
  deleteQuestion: { recording: "Delete old recordings?", video: "Delete old videos?" },
  saveAndDelete: "Save and delete",
  noneAffected: {
    recording: (days: number) =>
      `No videos are affected now. Future recordings are deleted after ${plural(days, "day", "days")}.`,
    video: (days: number) =>
      `No videos are affected now. Future videos are deleted after ${plural(days, "day", "days")}.`,
  },
  affected: {
    recording: (videos: number, orMore: boolean, days: number) =>
      `The recordings of ${plural(videos, "video", "videos")}${orMore ? " or more" : ""} older than ${plural(days, "day", "days")} will be deleted within minutes. This can't be undone. Transcripts and captions are kept.`,
    video: (videos: number, orMore: boolean, days: number) =>
      `${plural(videos, "video", "videos")}${orMore ? " or more" : ""} older than ${plural(days, "day", "days")} will be deleted within minutes, with transcripts and captions. This can't be undone.`,
  },
  uploads: "Uploads from browsers",
  uploadsHint: "Websites allowed to upload from the browser (CORS).",
  allowedWebsites: "Allowed websites",
  originOptions: {
    any: { name: "Any website", hint: "An upload still needs an API key or a signed upload URL." },
    listed: { name: "Only these websites", hint: "Your own servers and programs can always upload." },
  },
  origins: "Origins",
  originsHint: "One per line, e.g. https://app.example.com. Leave empty to block all.",
  queueWeight: "Queue weight",
  queueWeightHint:
    "An environment with weight 2 gets twice as much transcription work done as one with weight 1.",
  weight: "Weight",
});
