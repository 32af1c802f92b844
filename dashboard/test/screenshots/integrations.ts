import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createApiKey } from "../../../server/src/api-keys/api-keys.ts";
import type { Service } from "../../../server/src/main.ts";
import { createWebhookEndpoint } from "../../../server/src/webhooks/endpoints.ts";

/** Settings that allow deliveries to this machine. */
export const LOCAL_WEBHOOKS = { WEBHOOK_ALLOW_HTTP: "true", WEBHOOK_ALLOW_NETWORKS: "127.0.0.1/32" };

export interface Integrations {
  endpointId: string;
  stop(): void;
}

/** Creates API keys and a webhook endpoint, and starts the endpoint's receiver. */
export async function makeIntegrations({ parts }: Service, environmentId: string): Promise<Integrations> {
  const { database, clock, endpointPolicy: policy } = parts;
  const deps = { db: database.kysely, clock, policy };
  const inDays = (days: number) => new Date(clock.now().getTime() + days * 86_400_000);
  const keys = [
    { name: "Uploader", permissions: ["create_video" as const], expiresAt: inDays(90) },
    { name: "Website", permissions: ["get_video" as const], expiresAt: null },
  ];
  for (const key of keys) await createApiKey(deps, { environmentId, ...key });
  const receiver = createServer((request, response) => {
    request.resume().once("end", () => response.writeHead(200).end('{"received":true}'));
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/subtext`;
  const { id } = await createWebhookEndpoint(deps, { environmentId, url, metadata: { team: "web" } });
  return {
    endpointId: id,
    stop() {
      receiver.close();
      receiver.closeAllConnections();
    },
  };
}

/** Waits for the first delivery, then replaces the endpoint's URL with a realistic one. */
export async function nameEndpoint({ parts }: Service, endpointId: string): Promise<void> {
  const { kysely } = parts.database;
  const delivered = () =>
    kysely
      .selectFrom("delivery")
      .select("id")
      .where("endpoint_id", "=", endpointId)
      .where("finished_at", "is not", null)
      .execute();
  while ((await delivered()).length === 0) await new Promise((resolve) => setTimeout(resolve, 200));
  const url = "https://hooks.nordwind.example/subtext";
  await kysely.updateTable("webhook_endpoint").set({ url }).where("id", "=", endpointId).execute();
}
