import type { VideoView } from "@subtext/server/admin/contract/video";
import { posterUrl } from "../../admin-client/queries.ts";
import { AudioIcon, VideosIcon } from "../../ui/icons.tsx";
import css from "./poster.module.css";

const AUDIO_NAME = /\.(aac|flac|m4a|m4b|mp3|oga|ogg|opus|wav)$/i;
const MAX_LEVEL = 15;
const BAR_WIDTH = 2;
const HEIGHT = 40;
/** Shows silence as a dot. */
const MIN_BAR = 0.5;

/** Shows a frame of a video, or the loudness of a recording without video. Until the poster exists, shows an icon. */
export function Poster({ video }: { video: VideoView }) {
  const { id, environmentId, filename, poster } = video;
  const isAudio = AUDIO_NAME.test(filename ?? "");
  return (
    <div className={css.poster}>
      {poster?.kind === "levels" ? (
        <Levels levels={poster.levels} />
      ) : (
        <span className={css.icon}>{isAudio ? <AudioIcon /> : <VideosIcon />}</span>
      )}
      {poster?.kind === "frame" && (
        // Covers the icon, which remains visible if the frame cannot be loaded.
        <img
          src={posterUrl({ environmentId, videoId: id })}
          alt=""
          width={320}
          height={180}
          loading="lazy"
          decoding="async"
        />
      )}
    </div>
  );
}

function Levels({ levels }: { levels: readonly number[] }) {
  const bars = levels.map((level, index) => {
    const length = Math.max(MIN_BAR, (level / MAX_LEVEL) * HEIGHT);
    return `M${(index + 0.5) * BAR_WIDTH} ${(HEIGHT - length) / 2}v${length}`;
  });
  return (
    <svg
      className={css.levels}
      viewBox={`0 0 ${levels.length * BAR_WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={bars.join("")} />
    </svg>
  );
}
