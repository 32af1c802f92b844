import type { FastifyInstance } from "fastify";
import type { Clock } from "../../clock.ts";
import type { Db } from "../../db/schema.ts";
import type { Finding } from "../../doctor.ts";
import { AppError } from "../../errors.ts";
import type { Operators } from "../../operators.ts";
import type { Queue } from "../../queue.ts";
import type { EndpointPolicy } from "../../webhooks/guard-url.ts";
import { validateStrictly } from "../validate.ts";
import { refuseOtherOrigins, requireOperator } from "./access.ts";
import { registerApiKeys } from "./api-keys.ts";
import { registerEnvironments } from "./environments.ts";
import { registerOperator } from "./operator.ts";
import { registerSignIn } from "./sign-in.ts";
import { registerTranscriptions } from "./transcriptions.ts";
import { registerWebhookEndpoints } from "./webhook-endpoints.ts";

export interface InternalDeps {
  db: Db;
  queue: Queue;
  clock: Clock;
  operators: Operators;
  commandLineToken: string;
  policy: EndpointPolicy;
  /** Looks at every part of the service. */
  diagnose(): Promise<Finding[]>;
}

/** `/internal/…`: what operators do, from the dashboard or the command line. No promise is made to others. */
export function registerInternal(app: FastifyInstance, deps: InternalDeps): void {
  const { operators, commandLineToken } = deps;
  registerSignIn(app, deps);
  app.register(
    async (internal) => {
      internal.setValidatorCompiler(validateStrictly);
      internal.addHook("onRequest", async (request, reply) => {
        reply.header("cache-control", "no-store");
        refuseOtherOrigins(request, operators.origin);
        await requireOperator(request, reply, { operators, commandLineToken });
      });
      internal.addHook("preValidation", async ({ params }) => {
        // PostgreSQL can not even be asked for it.
        if (Object.values(params as Record<string, string>).some((value) => value.includes("\0"))) {
          throw new AppError("invalid_request", "The address may not hold the character U+0000.");
        }
      });
      registerEnvironments(internal, deps);
      registerApiKeys(internal, deps);
      registerWebhookEndpoints(internal, deps);
      registerTranscriptions(internal, deps);
      registerOperator(internal, deps);
      internal.get("/doctor", async () => ({ data: await deps.diagnose() }));
    },
    { prefix: "/internal" },
  );
}
