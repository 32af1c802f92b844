import { requireObject } from "./arguments.ts";
import { PagedList } from "./paged-list.ts";
import type { PostOptions, RequestOptions, Transport } from "./transport.ts";
import type {
  Delivery,
  NewWebhookEndpoint,
  Operations,
  RedeliverFailed,
  Redelivering,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointWithSecret,
} from "./types.ts";

/** `subtext.webhookEndpoints`. Everything needs `manage_webhooks`. */
export class WebhookEndpoints {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Newest first. */
  list(
    query: Operations["listWebhookEndpoints"]["query"] = {},
    options: RequestOptions = {},
  ): PagedList<WebhookEndpoint> {
    requireObject(query, "query");
    return new PagedList(
      (cursor) =>
        this.#transport.call(
          "listWebhookEndpoints",
          { query: { ...query, ...(cursor !== undefined && { cursor }) } },
          options,
        ),
      query.cursor,
    );
  }

  /** The answer holds the signing secret, this once. */
  async create(endpoint: NewWebhookEndpoint, options: PostOptions = {}): Promise<WebhookEndpointWithSecret> {
    requireObject(endpoint, "endpoint");
    return await this.#transport.call("createWebhookEndpoint", { body: endpoint }, options);
  }

  get(endpointId: string, options: RequestOptions = {}): Promise<WebhookEndpoint> {
    return this.#transport.call("getWebhookEndpoint", { params: { endpointId } }, options);
  }

  /** What is left out stays as it is. */
  async update(
    endpointId: string,
    change: WebhookEndpointChange,
    options: RequestOptions = {},
  ): Promise<WebhookEndpoint> {
    requireObject(change, "change");
    return await this.#transport.call(
      "updateWebhookEndpoint",
      { params: { endpointId }, body: change },
      options,
    );
  }

  async delete(endpointId: string, options: RequestOptions = {}): Promise<void> {
    await this.#transport.call("deleteWebhookEndpoint", { params: { endpointId } }, options);
  }

  /** Makes a new secret, shown this once; for 24 hours both sign every delivery. */
  rotateSecret(endpointId: string, options: PostOptions = {}): Promise<WebhookEndpointWithSecret> {
    return this.#transport.call("rotateWebhookSecret", { params: { endpointId } }, options);
  }

  /** Sends an event of the type `webhooks.endpoint.test`. */
  sendTestEvent(endpointId: string, options: PostOptions = {}): Promise<Delivery> {
    return this.#transport.call("sendTestEvent", { params: { endpointId } }, options);
  }

  /** What was sent and what it was answered, newest first. */
  listDeliveries(
    endpointId: string,
    query: Operations["listDeliveries"]["query"] = {},
    options: RequestOptions = {},
  ): PagedList<Delivery> {
    requireObject(query, "query");
    return new PagedList(
      (cursor) =>
        this.#transport.call(
          "listDeliveries",
          { params: { endpointId }, query: { ...query, ...(cursor !== undefined && { cursor }) } },
          options,
        ),
      query.cursor,
    );
  }

  /** Sends one event again, under the same `webhook-id`. */
  redeliver(endpointId: string, deliveryId: string, options: PostOptions = {}): Promise<Delivery> {
    return this.#transport.call("redeliver", { params: { endpointId, deliveryId } }, options);
  }

  /** Resends what failed, was canceled or is waiting for a retry since then; call again while `hasMore`. */
  async redeliverFailed(
    endpointId: string,
    since: RedeliverFailed,
    options: PostOptions = {},
  ): Promise<Redelivering> {
    requireObject(since, "since");
    return await this.#transport.call("redeliverFailed", { params: { endpointId }, body: since }, options);
  }
}
