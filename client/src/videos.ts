import { type FileInput, requireChunkSize, requireObject, toBlob } from "./arguments.ts";
import { type Page, PagedList } from "./paged-list.ts";
import type { CreatedVideo, Video } from "./states.ts";
import type { PostOptions, RequestOptions, Transport } from "./transport.ts";
import type { NewVideo, Operations } from "./types.ts";
import { type UploadProgress, uploadTo } from "./upload.ts";

type NewVideoOptions = Omit<NewVideo, "sizeBytes">;

export interface VideoUploadOptions
  extends PostOptions,
    Readonly<{ [Name in keyof NewVideoOptions]: NewVideoOptions[Name] | undefined }> {
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Save the upload URL if `uploadTo` should be able to resume after a restart of your program. */
  onCreated?: ((created: CreatedVideo) => void) | undefined;
  /** Lower it if a proxy limits the size of requests; 64 MiB by default. */
  maxChunkBytes?: number | undefined;
}

export class Videos {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the videos in the key's environment, newest first. Requires `get_video`. */
  list(query: Operations["listVideos"]["query"] = {}, options: RequestOptions = {}): PagedList<Video> {
    requireObject(query, "query");
    return new PagedList(async (cursor) => {
      const page = { query: { ...query, ...(cursor !== undefined && { cursor }) } };
      return (await this.#transport.call("listVideos", page, options)) as Page<Video>;
    }, query.cursor);
  }

  /** Requires `get_video`. */
  async get(videoId: string, options: RequestOptions = {}): Promise<Video> {
    return (await this.#transport.call("getVideo", { params: { videoId } }, options)) as Video;
  }

  /**
   * Creates a video and an upload URL for a browser, which needs no key. Upload with `uploadTo`, tus-js-client or Uppy.
   * Requires `create_video`.
   */
  async create(video: NewVideo, options: PostOptions = {}): Promise<CreatedVideo> {
    requireObject(video, "video");
    return (await this.#transport.call("createVideo", { body: video }, options)) as CreatedVideo;
  }

  /** Deletes the recording, its transcription and files. Requires `delete_video`. */
  async delete(videoId: string, options: RequestOptions = {}): Promise<void> {
    await this.#transport.call("deleteVideo", { params: { videoId } }, options);
  }

  /**
   * Creates a video and uploads its file, resuming after broken connections. Requires `create_video`.
   *
   * @param input Use `openAsBlob` from `node:fs` to avoid reading a large file into memory.
   * @returns the ID of the video, which is queued for transcription if AI Transcription is on
   */
  async upload(input: FileInput, options: VideoUploadOptions = {}): Promise<{ videoId: string }> {
    const file = toBlob(input);
    requireObject(options, "options");
    const { filename = nameOf(file), metadata, expiresInSeconds, onCreated, ...rest } = options;
    const { onProgress, maxChunkBytes, ...post } = rest;
    requireChunkSize(maxChunkBytes);
    const created = await this.create(
      {
        sizeBytes: file.size,
        ...(filename !== undefined && { filename }),
        ...(metadata !== undefined && { metadata }),
        ...(expiresInSeconds !== undefined && { expiresInSeconds }),
      },
      post,
    );
    onCreated?.(created);
    const { fetch, retry, timeoutMs } = this.#transport.options;
    // Without its name, which `uploadTo` would compare with `filename` or with the name in `metadata`.
    const content = file.slice(0, file.size);
    await uploadTo(created.upload.url, content, {
      fetch,
      retry,
      isNew: true,
      timeoutMs: post.timeoutMs ?? timeoutMs,
      ...(onProgress && { onProgress }),
      ...(maxChunkBytes !== undefined && { maxChunkBytes }),
      ...(post.signal && { signal: post.signal }),
    });
    return { videoId: created.video.id };
  }
}

function nameOf(file: Blob): string | undefined {
  return "name" in file && typeof file.name === "string" && file.name !== "" ? file.name : undefined;
}
