import { changeText, type EditedTranscript } from "../edited-transcript.ts";

/**
 * Applies what is typed into a paragraph. As long as each change touches the ones before it, the words are recomputed from
 * the transcript before the first change. This way, a word that is deleted and retyped keeps its time, and words inserted
 * one after another share a pause.
 */
export class Typing {
  readonly #durationSeconds: number;
  /** The transcript before the first change, and the result of the last one. */
  #base: EditedTranscript | null = null;
  #result: EditedTranscript | null = null;
  #paragraph = -1;
  /** Range of the typed text that the changes cover. */
  #from = 0;
  #to = 0;

  /** @param durationSeconds length of the recording */
  constructor(durationSeconds: number) {
    this.#durationSeconds = durationSeconds;
  }

  /**
   * @param before text of the paragraph's element before this change
   * @param after its text after this change
   */
  apply(
    transcript: EditedTranscript,
    { paragraph, before, after }: { paragraph: number; before: string; after: string },
  ): EditedTranscript {
    const { from, removedTo, addedTo } = changedRange(before, after);
    const continues =
      this.#result === transcript &&
      this.#paragraph === paragraph &&
      from <= this.#to &&
      removedTo >= this.#from;
    if (continues) {
      this.#to = Math.max(addedTo, this.#to + after.length - before.length);
      this.#from = Math.min(this.#from, from);
    } else {
      this.#base = transcript;
      this.#paragraph = paragraph;
      this.#from = from;
      this.#to = addedTo;
    }
    this.#result = changeText(this.#base!, paragraph, after, this.#durationSeconds);
    return this.#result;
  }
}

function changedRange(before: string, after: string): { from: number; removedTo: number; addedTo: number } {
  const limit = Math.min(before.length, after.length);
  let from = 0;
  while (from < limit && before[from] === after[from]) from++;
  let suffix = 0;
  while (suffix < limit - from && before[before.length - 1 - suffix] === after[after.length - 1 - suffix])
    suffix++;
  return { from, removedTo: before.length - suffix, addedTo: after.length - suffix };
}
