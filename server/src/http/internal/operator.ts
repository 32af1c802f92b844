import type { FastifyInstance } from "fastify";
import { AppError } from "../../errors.ts";
import type { Credentials, Operators } from "../../operators.ts";

/** For whoever has lost the password: a session is not enough, or a stolen one could lock its owner out. */
export function registerOperator(app: FastifyInstance, { operators }: { operators: Operators }): void {
  app.post("/operator/reset-password", async (request): Promise<Credentials> => {
    if (request.headers.authorization === undefined) {
      throw new AppError(
        "sign_in_required",
        "Only the command line may do this: subtext operator reset-password",
      );
    }
    const credentials = await operators.resetPassword();
    request.log.warn("the operator's password was reset");
    return credentials;
  });
}
