import type { UploadOfferView } from "@subtext/dashboard/contract/video";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { Clock } from "../../clock.ts";
import type { Db } from "../../db/schema.ts";
import { insertVideo } from "../../db/videos.ts";
import { getEnvironment } from "../../environments.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import { checkMetadata } from "../../metadata.ts";
import type { UploadStore } from "../../storage/upload-store.ts";
import { signUploadUrl } from "../public/upload-url.ts";
import { UPLOADS_PATH } from "../public/uploads.ts";
import { viewVideo } from "./videos.ts";

/** An upload that was begun in time may take as long as it takes. */
const BEGIN_WITHIN_SECONDS = 3600;

const NewUpload = Type.Object(
  {
    filename: Type.String({ minLength: 1, maxLength: 1000 }),
    sizeBytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  },
  { additionalProperties: false },
);

export interface UploadOfferDeps {
  db: Db;
  clock: Clock;
  store: UploadStore;
  maxUploadBytes: number;
  publicUrl: string;
  /** Signs upload URLs. */
  secret: Uint8Array;
}

/** Uploads from the dashboard: the session makes the video, its URL takes the bytes, as in direct uploads. */
export function registerUploadOffers(app: FastifyInstance, deps: UploadOfferDeps): void {
  const { db, clock, store } = deps;
  app.post<{ Params: { environment: string }; Body: Static<typeof NewUpload> }>(
    "/environments/:environment/videos",
    { schema: { body: NewUpload } },
    async (request, reply): Promise<UploadOfferView> => {
      const environment = await getEnvironment(db, request.params.environment);
      const { filename, sizeBytes } = request.body;
      const metadata = { filename };
      checkMetadata(metadata, "Metadata");
      if (sizeBytes > deps.maxUploadBytes) {
        throw new AppError("payload_too_large", `A video may have at most ${deps.maxUploadBytes} bytes.`);
      }
      await store.requireSpace(sizeBytes);
      const now = clock.now();
      const id = newId("video");
      const row = await insertVideo(db, { id, environmentId: environment.id, metadata, sizeBytes, now });
      request.log.info({ videoId: id, bytes: sizeBytes }, "upload URL given to an operator");
      const expires = Math.floor(now.getTime() / 1000) + BEGIN_WITHIN_SECONDS;
      const signed = signUploadUrl({ videoId: id, expires }, deps.secret);
      reply.code(201);
      return {
        video: viewVideo(row, { transcription: undefined, uploadedBytes: 0, queuePlace: null }),
        upload: {
          url: `${deps.publicUrl}${UPLOADS_PATH}/${id}?${signed}`,
          expiresAt: new Date(expires * 1000).toISOString(),
        },
      };
    },
  );
}
