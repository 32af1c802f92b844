import type { EditableWord } from "@subtext/client/contract/transcript-words";
import type { ActorKind } from "../../db/enums.ts";

/**
 * A revision of a transcript: an entry of `GET …/videos/{video}/revisions`. Revision 0 is the recognized original. A
 * transcript that nobody has changed has only this one.
 */
export interface RevisionView {
  revision: number;
  /** Null for the recognized original. The name is null for the command line. */
  actor: { kind: ActorKind; name: string | null } | null;
  createdAt: string;
  /** The last save of the editing session. */
  updatedAt: string;
  wordCount: number;
  /** Words that were added, removed or changed since the previous revision. */
  changedWords: number;
  isCurrent: boolean;
}

/** The words of a revision: `GET …/videos/{video}/revisions/{revision}`. */
export interface RevisionWordsView {
  revision: number;
  words: EditableWord[];
}
