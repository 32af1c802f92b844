import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { writeDown } from "../audit/audit.ts";
import type { Db } from "../db/schema.ts";
import { createEnvironment } from "../environments/environments.ts";
import { listEnvironments } from "../environments/queries.ts";
import { validateStrictly } from "../http/validate.ts";
import type { Clock } from "../lib/clock.ts";
import { acceptInvitation, lookUpInvitation } from "../operators/invitations.ts";
import { checkEmail, type Operators } from "../operators/operators.ts";
import { refuseOtherOrigins } from "./access.ts";
import type { SetUpView } from "./contract/operator.ts";
import { beginSession } from "./sign-in.ts";
import type { Attempts } from "./sign-in-limits.ts";
import { viewInvitation } from "./views.ts";

const Token = Type.String({ minLength: 1, maxLength: 200 });
const Password = Type.String({ maxLength: 1000 });
const Name = Type.String({ maxLength: 1000 });

const SetUp = Type.Object(
  {
    token: Token,
    name: Name,
    email: Type.String({ maxLength: 300 }),
    password: Password,
    environment: Type.Optional(
      Type.Object({ name: Name, aiTranscription: Type.Boolean() }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
);

const LookUp = Type.Object({ token: Token }, { additionalProperties: false });
const Join = Type.Object({ token: Token, name: Name, password: Password }, { additionalProperties: false });

export interface SetUpDeps {
  db: Db;
  clock: Clock;
  operators: Operators;
  attempts: Attempts;
}

/** What somebody without an account may do with a secret link: set the service up, and accept an invitation. */
export function registerSetUp(app: FastifyInstance, deps: SetUpDeps): void {
  const { db, clock, operators, attempts } = deps;
  app.register(
    async (open) => {
      open.setValidatorCompiler(validateStrictly);
      open.addHook("onRequest", async (request, reply) => {
        reply.header("cache-control", "no-store");
        refuseOtherOrigins(request, operators.origin);
        if (request.method === "POST") attempts.countAddress(request);
      });

      open.get("/set-up", async (): Promise<SetUpView> => {
        const [needed, environments] = await Promise.all([operators.needsSetUp(), listEnvironments(db)]);
        return { needed, hasEnvironment: environments.length > 0 };
      });

      open.post<{ Body: Static<typeof SetUp> }>(
        "/set-up",
        { schema: { body: SetUp } },
        async (request, reply) => {
          const { token, environment, ...operator } = request.body;
          const credentials = await operators.setUp(token, operator, async (tx, id) => {
            const author = {
              kind: "operator",
              id,
              name: checkEmail(operator.email),
              address: request.ip,
            } as const;
            await writeDown({ tx, clock }, author, { action: "service.set_up" });
            if (!environment) return;
            await writeDown({ tx, clock }, author, {
              action: "environment.created",
              environment: await createEnvironment({ db: tx, clock }, environment),
              detail: { aiTranscription: environment.aiTranscription },
            });
          });
          request.log.info("the service was set up");
          await beginSession(operators, credentials, request, reply);
          return await reply.code(201).send({});
        },
      );

      open.post<{ Body: Static<typeof LookUp> }>(
        "/join/look-up",
        { schema: { body: LookUp } },
        async (request) => viewInvitation(await lookUpInvitation(deps, request.body.token)),
      );

      open.post<{ Body: Static<typeof Join> }>(
        "/join",
        { schema: { body: Join } },
        async (request, reply) => {
          const credentials = await acceptInvitation(deps, request.body, (tx, { id, email, role }) =>
            writeDown(
              { tx, clock },
              { kind: "operator", id, name: email, address: request.ip },
              { action: "operator.joined", detail: { role } },
            ),
          );
          request.log.info("an invited operator joined");
          await beginSession(operators, credentials, request, reply);
          return await reply.code(201).send({});
        },
      );
    },
    { prefix: "/internal" },
  );
}
