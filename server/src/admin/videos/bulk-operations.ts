import { type ArchiveDeps, streamArchive } from "../../bulk-operations/archive.ts";
import { cancelOperation, noSuchOperation, requestOperation } from "../../bulk-operations/operations.ts";
import { listOperations, type Selection, startDownload } from "../../bulk-operations/queries.ts";
import type { BulkOperationRow } from "../../db/tables/videos.ts";
import { getEnvironment } from "../../environments/environments.ts";
import type { Queue } from "../../queue/queue.ts";
import { contentDisposition } from "../../storage/content-disposition.ts";
import { countMatchingVideos } from "../../videos/list-view.ts";
import type { BulkOperationView } from "../contract/bulk-operation.ts";
import { defineHandlers } from "../operation.ts";
import { type FilterQuery, readFilter } from "./list-request.ts";

export interface BulkOperationDeps extends Omit<ArchiveDeps, "log"> {
  queue: Queue;
}

const MAX_LISTED = 20;

export function bulkOperationHandlers(deps: BulkOperationDeps) {
  const { db, clock } = deps;
  return defineHandlers({
    "GET /environments/:environment/video-matches": async ({ params, query }) => {
      const environment = await getEnvironment(db, params.environment);
      const countedAt = clock.now().toISOString();
      return { count: await countMatchingVideos(db, environment.id, readFilter(query)), countedAt };
    },

    "GET /environments/:environment/bulk-operations": async ({ params }) => {
      const environment = await getEnvironment(db, params.environment);
      const rows = await listOperations(db, environment.id, MAX_LISTED);
      return { data: rows.map(toBulkOperationView) };
    },

    "POST /environments/:environment/bulk-operations": async ({ params, body, auditActor, request }) => {
      const environment = await getEnvironment(db, params.environment);
      const wanted = {
        environmentId: environment.id,
        kind: body.kind,
        selection: readSelection(body.videos),
      };
      const row = await requestOperation(deps, wanted, auditActor);
      const { id, kind, matched } = row;
      request.log.info({ operationId: id, kind, matched }, "bulk operation requested");
      return toBulkOperationView(row);
    },

    "POST /environments/:environment/bulk-operations/:operation/cancel": async ({ params, auditActor }) => {
      const environment = await getEnvironment(db, params.environment);
      const operation = { environmentId: environment.id, id: params.operation };
      return toBulkOperationView(await cancelOperation(deps, operation, auditActor));
    },

    "POST /environments/:environment/downloads": async ({ params, body, auditActor }) => {
      const environment = await getEnvironment(db, params.environment);
      const selection = readSelection(body.videos);
      const wanted = { environmentId: environment.id, kind: "download", selection } as const;
      return toBulkOperationView(await requestOperation(deps, wanted, auditActor));
    },

    "GET /environments/:environment/downloads/:operation": async ({ params, request, reply }) => {
      const environment = await getEnvironment(db, params.environment);
      const operation = await startDownload(db, environment.id, params.operation);
      if (!operation) throw noSuchOperation();
      const day = clock.now().toISOString().slice(0, 10);
      const name = `${environment.name} transcripts ${day}.zip`;
      reply.header("content-disposition", contentDisposition(name, "application/zip"));
      return await reply
        .type("application/zip")
        .send(streamArchive({ ...deps, log: request.log }, operation));
    },
  });
}

function readSelection(videos: { ids: string[] } | { matching: FilterQuery }): Selection {
  return "ids" in videos ? videos : { matching: readFilter(videos.matching) };
}

function toBulkOperationView(row: BulkOperationRow): BulkOperationView {
  const { id, environment_id, kind, state, matched, done, failed, skipped, requested_by } = row;
  return {
    id,
    environmentId: environment_id,
    kind,
    state,
    matched,
    done,
    failed,
    skipped,
    requestedBy: requested_by,
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  };
}
