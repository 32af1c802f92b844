import css from "./details.module.css";
import { when } from "./texts.ts";

/** In the place of the player. */
export function RecordingDeleted({ at, hasTranscript }: { at: string; hasTranscript: boolean }) {
  return (
    <div className={css.state}>
      <h2>The recording was deleted</h2>
      <p>
        The environment's retention settings deleted it on <time dateTime={at}>{when(at)}</time>.{" "}
        {hasTranscript
          ? "The transcript and captions are still available."
          : "It can't be played or transcribed again."}
      </p>
    </div>
  );
}
