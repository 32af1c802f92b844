import type { Backend, VideoTrack } from "../backend.ts";
import type { Poster, PosterOptions } from "../media.ts";
import { PICTURE_INTERVAL_SECONDS } from "./pictures.ts";

const FIRST_SECONDS = 10;
/** Times to look at if the first seconds are blank, as shares of the duration. */
const LATER_SHARES = [0.1, 0.25, 0.5, 0.75];
/** A black or plain picture has less than 900 bytes, one with a line of text 2 kB, and a photo 10 kB. */
const BLANK_BYTES = 1200;
/** While a picture fades in, it grows by more than this from one frame to the next. */
const FADE_GROWTH = 1.25;

/**
 * Chooses a frame by the size of its JPEG file, because frames with little detail are small. In the first seconds,
 * takes the first detailed frame after a fade-in, otherwise the largest.
 */
export async function findPoster(backend: Backend, path: string, options: PosterOptions): Promise<Poster> {
  const { video } = await backend.inspect(path, options.signal);
  const track = chooseTrack(video);
  if (track === null) return { hasVideo: false, frame: null };
  const frame =
    (await findEarlyFrame(backend, path, track, options)) ??
    (await findLaterFrame(backend, path, track, options));
  return { hasVideo: true, frame };
}

function chooseTrack(tracks: readonly VideoTrack[]): VideoTrack | null {
  const pictures = tracks.filter(({ isCover }) => !isCover);
  return pictures.find(({ isDefault }) => isDefault) ?? pictures[0] ?? null;
}

async function findEarlyFrame(
  backend: Backend,
  path: string,
  { stream }: VideoTrack,
  { signal }: PosterOptions,
): Promise<Buffer | null> {
  const maxPictures = FIRST_SECONDS / PICTURE_INTERVAL_SECONDS;
  const request = { stream, fromSeconds: 0, seconds: FIRST_SECONDS, maxPictures, signal };
  let largest: Buffer | null = null;
  let previous: Buffer | null = null;
  for await (const picture of backend.pictures(path, request)) {
    if (isBlank(picture)) {
      previous = null;
      continue;
    }
    if (previous !== null && picture.length <= previous.length * FADE_GROWTH) return previous;
    previous = picture;
    if (largest === null || picture.length > largest.length) largest = picture;
  }
  return largest;
}

async function findLaterFrame(
  backend: Backend,
  path: string,
  { stream }: VideoTrack,
  { durationSeconds, signal }: PosterOptions,
): Promise<Buffer | null> {
  if (durationSeconds === null) return null;
  for (const share of LATER_SHARES) {
    const fromSeconds = durationSeconds * share;
    const request = { stream, fromSeconds, seconds: FIRST_SECONDS, maxPictures: 1, signal };
    for await (const picture of backend.pictures(path, request)) if (!isBlank(picture)) return picture;
  }
  return null;
}

function isBlank(picture: Buffer): boolean {
  return picture.length < BLANK_BYTES;
}
