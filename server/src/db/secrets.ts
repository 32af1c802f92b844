import { randomBytes } from "node:crypto";
import type { Db } from "./schema.ts";
import type { SecretName } from "./tables/service.ts";

/** Returns a secret that all processes share, and creates it if it does not exist. */
export async function serviceSecret(db: Db, name: SecretName): Promise<Buffer> {
  await db
    .insertInto("service_secret")
    .values({ name, value: randomBytes(32).toString("base64") })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  const { value } = await db
    .selectFrom("service_secret")
    .select("value")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return Buffer.from(value, "base64");
}
