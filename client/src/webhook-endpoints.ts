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

/** `subtext.webhookEndpoints`. All methods require the `manage_webhooks` permission. */
export class WebhookEndpoints {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists endpoints, newest first. */
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

  /** Creates an endpoint. Only this response and that of `rotateSecret` contain the signing secret. */
  async create(endpoint: NewWebhookEndpoint, options: PostOptions = {}): Promise<WebhookEndpointWithSecret> {
    requireObject(endpoint, "endpoint");
    return await this.#transport.call("createWebhookEndpoint", { body: endpoint }, options);
  }

  get(endpointId: string, options: RequestOptions = {}): Promise<WebhookEndpoint> {
    return this.#transport.call("getWebhookEndpoint", { params: { endpointId } }, options);
  }

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

  /** Creates a new secret, returned only once. For 24 hours, both secrets sign every delivery. */
  rotateSecret(endpointId: string, options: PostOptions = {}): Promise<WebhookEndpointWithSecret> {
    return this.#transport.call("rotateWebhookSecret", { params: { endpointId } }, options);
  }

  sendTestEvent(endpointId: string, options: PostOptions = {}): Promise<Delivery> {
    return this.#transport.call("sendTestEvent", { params: { endpointId } }, options);
  }

  /** Lists deliveries with their attempts, newest first. */
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

  /** Resends an event with the same `webhook-id`. */
  redeliver(endpointId: string, deliveryId: string, options: PostOptions = {}): Promise<Delivery> {
    return this.#transport.call("redeliver", { params: { endpointId, deliveryId } }, options);
  }

  /**
   * Resends deliveries created at or after `since` that failed, were canceled, or are awaiting retry. Repeat the call
   * while `hasMore` is true.
   */
  async redeliverFailed(
    endpointId: string,
    request: RedeliverFailed,
    options: PostOptions = {},
  ): Promise<Redelivering> {
    requireObject(request, "request");
    return await this.#transport.call("redeliverFailed", { params: { endpointId }, body: request }, options);
  }
}
