import { type Static, Type } from "typebox";
import { nullable } from "./values.ts";

/** A 12-hour recording of fast speech has 144,000 words. */
export const MAX_TRANSCRIPT_WORDS = 150_000;
/** UTF-16 code units of all words. Ordinary text has four to seven per word. */
export const MAX_TRANSCRIPT_LENGTH = 1_500_000;
/** Enough for `MAX_TRANSCRIPT_WORDS` with times and speakers. */
export const MAX_TRANSCRIPT_BYTES = 16 * 1024 * 1024;
/** UTF-16 code units. */
export const MAX_WORD_LENGTH = 200;
/** UTF-16 code units. */
export const MAX_SPEAKER_LENGTH = 100;

const word = Type.String({ description: "As written, with punctuation; at most 200 characters" });
const start = Type.Number({ description: "Seconds; at or after the end of the previous word" });
const end = Type.Number({ description: "Seconds; at or after `start` and within the recording" });
const speaker = nullable(
  Type.String(),
  "Name of the speaker, at most 100 characters; null if nobody has named one",
);
const confidence = nullable(
  Type.Number({ minimum: 0, maximum: 1 }),
  "The engine's confidence; null if a person typed or confirmed the word, or if it is unknown",
);
const channel = nullable(
  Type.Integer({ minimum: 1, maximum: 2 }),
  "Channel of the recording, if each has one speaker, as in two-channel recordings of calls; otherwise null",
);
const etag = Type.String({ description: "Send it as `If-Match` when you change these words" });
const revision = Type.Integer({
  minimum: 0,
  description: "Number of the revision; 0 is the recognized original",
});

/** A word of the current transcript, for editing. */
export const EditableWord = Type.Object(
  { word, start, end, speaker, confidence, channel },
  { $id: "EditableWord", additionalProperties: false },
);

export const TranscriptWords = Type.Object(
  { etag, revision, words: Type.Array(EditableWord, { description: "The words in spoken order" }) },
  { $id: "TranscriptWords", additionalProperties: false },
);

const NewWord = Type.Object(
  {
    word,
    start,
    end,
    speaker: Type.Optional(speaker),
    confidence: Type.Optional(confidence),
    channel: Type.Optional(channel),
  },
  { additionalProperties: false },
);

const words = Type.Array(NewWord, {
  description: "All words in spoken order: at most 150,000, with 1,500,000 characters",
});
const editSessionId = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: "^[!-~]+$",
  description:
    "A random ID of an editing session. Saves with the same ID replace the content of their revision, if the last one was less than 10 minutes ago.",
});

/** Replaces all words. Without `editSessionId`, each request adds a revision. */
export const TranscriptWordsChange = Type.Object(
  { words, editSessionId: Type.Optional(editSessionId) },
  { $id: "TranscriptWordsChange", additionalProperties: false },
);

export const SavedWords = Type.Object({ etag, revision }, { $id: "SavedWords", additionalProperties: false });

export type EditableWord = Static<typeof EditableWord>;
export type TranscriptWords = Static<typeof TranscriptWords>;
export type TranscriptWordsChange = Static<typeof TranscriptWordsChange>;
export type SavedWords = Static<typeof SavedWords>;
