import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import type { Backups, BackupView } from "../backup/backups.ts";
import { AppError } from "../lib/errors.ts";

const NewBackup = Type.Object(
  { folder: Type.String({ minLength: 1, maxLength: 4096, pattern: "^[^\\u0000]*$" }) },
  { additionalProperties: false },
);

export interface BackupRouteDeps {
  backups: Backups;
}

/**
 * Backups write to any folder that the service may write to, and hold every secret: they are for whoever has this
 * machine's command line, not for who signs in by a browser.
 */
export function registerBackups(app: FastifyInstance, { backups }: BackupRouteDeps): void {
  app.post<{ Body: Static<typeof NewBackup> }>(
    "/backup",
    { schema: { body: NewBackup } },
    async (request, reply): Promise<BackupView> => {
      requireCommandLine(request);
      reply.code(202);
      return backups.start(request.body.folder);
    },
  );

  app.get("/backup", async (request): Promise<{ backup: BackupView | null }> => {
    requireCommandLine(request);
    return { backup: backups.look() };
  });

  app.delete("/backup", async (request, reply) => {
    requireCommandLine(request);
    await backups.stop();
    return await reply.code(204).send();
  });
}

/** @throws AppError `command_line_required` */
function requireCommandLine({ actor }: FastifyRequest): void {
  if (actor === "command line") return;
  throw new AppError("command_line_required", "Backups are made by the command line: npx subtext backup");
}
