import { when } from "../../data/video-words.ts";
import css from "./details.module.css";

/** In the place of the player. */
export function RecordingDeleted({ at, hasTranscript }: { at: string; hasTranscript: boolean }) {
  return (
    <div className={css.state}>
      <h2>The recording was deleted</h2>
      <p>
        For its age, on <time dateTime={at}>{when(at)}</time>, as the settings of the environment say.{" "}
        {hasTranscript
          ? "Its transcript and captions stay."
          : "So it can be neither played nor processed again."}
      </p>
    </div>
  );
}
