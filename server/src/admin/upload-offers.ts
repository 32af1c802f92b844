import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { Db } from "../db/schema.ts";
import { getEnvironment } from "../environments/environments.ts";
import { type OfferDeps, offerUpload } from "../uploads/upload-offer.ts";
import type { UploadOfferView } from "./contract/video.ts";
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

export interface UploadOfferDeps extends OfferDeps {
  db: Db;
}

/** Uploads from the dashboard: the session makes the video, its URL takes the bytes, as in direct uploads. */
export function registerUploadOffers(app: FastifyInstance, deps: UploadOfferDeps): void {
  app.post<{ Params: { environment: string }; Body: Static<typeof NewUpload> }>(
    "/environments/:environment/videos",
    { schema: { body: NewUpload } },
    async (request, reply): Promise<UploadOfferView> => {
      const environment = await getEnvironment(deps.db, request.params.environment);
      const { filename, sizeBytes } = request.body;
      const { row, upload } = await offerUpload(deps, {
        environmentId: environment.id,
        metadata: { filename },
        sizeBytes,
        expiresInSeconds: BEGIN_WITHIN_SECONDS,
      });
      request.log.info({ videoId: row.id, bytes: sizeBytes }, "upload URL given to an operator");
      reply.code(201);
      return {
        video: viewVideo(row, { transcription: undefined, uploadedBytes: 0, queuePlace: null }),
        upload,
      };
    },
  );
}
