import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { writeDown } from "../audit/audit.ts";
import { OPERATOR_ROLES } from "../db/enums.ts";
import type { Db } from "../db/schema.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { isPlausibleId } from "../lib/ids.ts";
import { invite } from "../operators/invitations.ts";
import type { Credentials, Operators } from "../operators/operators.ts";
import { deleteInvitation, listInvitations, listOperators } from "../operators/queries.ts";
import { authorOf } from "./author.ts";
import type { InvitationView, MeView, NewInvitationView, OperatorView } from "./contract/operator.ts";
import { viewInvitation, viewOperator } from "./views.ts";

const Invitation = Type.Object(
  { email: Type.String({ maxLength: 300 }), role: Type.Enum(OPERATOR_ROLES) },
  { additionalProperties: false },
);

const Reset = Type.Object(
  { email: Type.Optional(Type.String({ maxLength: 300 })) },
  { additionalProperties: false },
);

export interface OperatorsDeps {
  db: Db;
  clock: Clock;
  operators: Operators;
}

export function registerOperators(app: FastifyInstance, deps: OperatorsDeps): void {
  const { db, clock, operators } = deps;

  app.get("/me", async ({ actor }): Promise<MeView> => {
    if (actor === "command line") throw new AppError("sign_in_required", "The command line has no account.");
    return actor;
  });

  app.get("/operators", async (): Promise<{ data: OperatorView[] }> => {
    return { data: (await listOperators(db)).map(viewOperator) };
  });

  app.delete<{ Params: { id: string } }>("/operators/:id", async (request, reply) => {
    const { id } = request.params;
    if (!isPlausibleId(id)) throw new AppError("operator_not_found", "There is no such operator.");
    await operators.remove(id, (tx, { email, role }) =>
      writeDown({ tx, clock }, authorOf(request), {
        action: "operator.removed",
        subject: { id, name: email },
        detail: { role },
      }),
    );
    request.log.info({ operatorId: id }, "operator removed");
    return await reply.code(204).send();
  });

  app.get("/invitations", async (): Promise<{ data: InvitationView[] }> => {
    return { data: (await listInvitations(db, clock.now())).map(viewInvitation) };
  });

  app.post<{ Body: Static<typeof Invitation> }>(
    "/invitations",
    { schema: { body: Invitation } },
    async (request, reply): Promise<NewInvitationView> => {
      const { invitation, url } = await db.transaction().execute(async (tx) => {
        const made = await invite({ ...deps, db: tx }, request.body);
        const { id, email, role } = made.invitation;
        await writeDown({ tx, clock }, authorOf(request), {
          action: "operator.invited",
          subject: { id, name: email },
          detail: { role },
        });
        return made;
      });
      request.log.info({ invitationId: invitation.id, role: invitation.role }, "operator invited");
      reply.code(201);
      return { ...viewInvitation(invitation), url };
    },
  );

  app.delete<{ Params: { id: string } }>("/invitations/:id", async (request, reply) => {
    const { id } = request.params;
    await db.transaction().execute(async (tx) => {
      const email = isPlausibleId(id) ? await deleteInvitation(tx, id) : undefined;
      if (email === undefined) {
        throw new AppError("invitation_not_found", "The invitation was used, or taken back already.");
      }
      await writeDown({ tx, clock }, authorOf(request), {
        action: "operator.invitation_revoked",
        subject: { id, name: email },
      });
    });
    return await reply.code(204).send();
  });

  // For whoever has lost the password: a session is not enough, or a stolen one could lock its owner out.
  app.post<{ Body: Static<typeof Reset> }>(
    "/operator/reset-password",
    { schema: { body: Reset } },
    async (request): Promise<Credentials> => {
      if (request.actor !== "command line") {
        throw new AppError(
          "sign_in_required",
          "Only the command line may do this: subtext operator reset-password",
        );
      }
      const credentials = await operators.resetPassword(request.body.email ?? null, (tx, { id, email }) =>
        writeDown({ tx, clock }, authorOf(request), {
          action: "operator.password_reset",
          subject: { id, name: email },
        }),
      );
      request.log.warn("an operator's password was reset");
      return credentials;
    },
  );
}
