import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import { type OperatorSession, type Operators, SIGN_IN_PATH } from "../operators/operators.ts";
import { endSessions, listSessions } from "../operators/queries.ts";
import { authHeaders, refuseOtherOrigins } from "./access.ts";
import type { SessionView } from "./contract/operator.ts";

/** An operator's own sessions. A viewer may end them too. */
export function registerSessions(
  app: FastifyInstance,
  { operators, db, clock }: { operators: Operators; db: Db; clock: Clock },
): void {
  const sessions = new WeakMap<FastifyRequest, OperatorSession>();
  const sessionOf = (request: FastifyRequest) => sessions.get(request)!;
  app.register(
    async (own) => {
      own.addHook("onRequest", async (request, reply) => {
        reply.header("cache-control", "no-store");
        refuseOtherOrigins(request, operators.origin);
        const session = await operators.findSession(authHeaders(request));
        if (!session) throw new AppError("sign_in_required", "There is no session, or it has ended.");
        for (const cookie of session.setCookies) reply.header("set-cookie", cookie);
        sessions.set(request, session);
      });

      own.get("/", async (request): Promise<{ data: SessionView[] }> => {
        const { id, operator } = sessionOf(request);
        const views = (await listSessions(db, operator.id, clock.now())).map(
          (row): SessionView => ({
            id: row.id,
            current: row.id === id,
            ipAddress: row.ip_address,
            userAgent: row.user_agent,
            createdAt: row.created_at.toISOString(),
            expiresAt: row.expires_at.toISOString(),
          }),
        );
        return { data: views.sort((a, b) => Number(b.current) - Number(a.current)) };
      });

      own.delete<{ Params: { id: string } }>("/:id", async (request, reply) => {
        const { id } = request.params;
        if (isPlausibleId(id)) await endSessions(db, sessionOf(request).operator.id, { id });
        return await reply.code(204).send();
      });

      /** All except the current one. */
      own.delete("/", async (request, reply) => {
        const { id, operator } = sessionOf(request);
        await endSessions(db, operator.id, { except: id });
        return await reply.code(204).send();
      });
    },
    { prefix: `${SIGN_IN_PATH}/sessions` },
  );
}
