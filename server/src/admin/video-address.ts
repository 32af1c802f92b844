import { getVideo } from "../api/videos.ts";
import type { Db, VideoRow } from "../db/schema.ts";
import { getEnvironment } from "../environments/environments.ts";

/** Where one video is, under the internal API; what else is told of it lies below. */
export const VIDEO_PATH = "/environments/:environment/videos/:video";

export interface VideoParams {
  Params: { environment: string; video: string };
}

/** @throws AppError `environment_not_found`, `video_not_found` */
export async function findVideoOf(db: Db, params: VideoParams["Params"]): Promise<VideoRow> {
  const environment = await getEnvironment(db, params.environment);
  return await getVideo(db, environment.id, params.video);
}
