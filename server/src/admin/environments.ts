import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { writeDown } from "../audit/audit.ts";
import { environmentDeeds } from "../audit/environment-deeds.ts";
import { MAX_RETENTION_DAYS, RETENTION_DELETES } from "../db/enums.ts";
import type { Db } from "../db/schema.ts";
import {
  changeEnvironment,
  createEnvironment,
  getEnvironment,
  lockEnvironment,
} from "../environments/environments.ts";
import { listEnvironments } from "../environments/queries.ts";
import type { Clock } from "../lib/clock.ts";
import { countDue } from "../videos/retention-queries.ts";
import { authorOf } from "./author.ts";
import type { EnvironmentView, RetentionEffectView } from "./contract/environment.ts";
import { viewEnvironment } from "./views.ts";

const NewEnvironment = Type.Object(
  {
    name: Type.String({ maxLength: 200, pattern: "^[^\\u0000]*$" }),
    aiTranscription: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** What is told of more is that it is more. */
const COUNTED_DUE = 10_000;

const Retention = Type.Object(
  {
    days: Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS }),
    deletes: Type.Enum(RETENTION_DELETES),
  },
  { additionalProperties: false },
);

const EnvironmentChange = Type.Object(
  {
    aiTranscription: Type.Optional(Type.Boolean()),
    /** Of pages that may upload; `*` for any. */
    allowedOrigins: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100 })),
    /** Null keeps everything. */
    retention: Type.Optional(Type.Union([Retention, Type.Null()])),
  },
  { additionalProperties: false, minProperties: 1 },
);

/** Wherever `:environment` stands in an address, an environment's id or its name may be given. */
export function registerEnvironments(app: FastifyInstance, { db, clock }: { db: Db; clock: Clock }): void {
  app.get("/environments", async (): Promise<{ data: EnvironmentView[] }> => {
    const rows = await listEnvironments(db);
    return { data: rows.map(viewEnvironment) };
  });

  app.post<{ Body: Static<typeof NewEnvironment> }>(
    "/environments",
    { schema: { body: NewEnvironment } },
    async (request, reply): Promise<EnvironmentView> => {
      const { name, aiTranscription = false } = request.body;
      const row = await db.transaction().execute(async (tx) => {
        const made = await createEnvironment({ db: tx, clock }, { name, aiTranscription });
        const detail = { aiTranscription };
        await writeDown({ tx, clock }, authorOf(request), {
          action: "environment.created",
          environment: made,
          detail,
        });
        return made;
      });
      request.log.info({ environmentId: row.id, aiTranscription }, "environment created");
      reply.code(201);
      return viewEnvironment(row);
    },
  );

  app.patch<{ Params: { environment: string }; Body: Static<typeof EnvironmentChange> }>(
    "/environments/:environment",
    { schema: { body: EnvironmentChange } },
    async (request): Promise<EnvironmentView> => {
      const changed = await db.transaction().execute(async (tx) => {
        const before = await lockEnvironment(tx, request.params.environment);
        const after = await changeEnvironment(tx, before.id, request.body);
        for (const deed of environmentDeeds(before, after)) {
          await writeDown({ tx, clock }, authorOf(request), deed);
        }
        return after;
      });
      request.log.info({ environmentId: changed.id, ...request.body }, "environment changed");
      return viewEnvironment(changed);
    },
  );

  app.get<{ Params: { environment: string }; Querystring: Static<typeof Retention> }>(
    "/environments/:environment/retention-effect",
    { schema: { querystring: Retention } },
    async (request): Promise<RetentionEffectView> => {
      const { id } = await getEnvironment(db, request.params.environment);
      const effect = { retention: request.query, now: clock.now(), upTo: COUNTED_DUE };
      return { videos: await countDue(db, id, effect) };
    },
  );
}
