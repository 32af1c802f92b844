import { Counter, Histogram, type Registry } from "prom-client";
import type { DeliveryReport } from "../../webhooks/deliver.ts";

/** A receiver has 15 seconds to respond. */
const ATTEMPT_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const DELAY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300];

export function countDeliveries(registry: Registry): (delivery: DeliveryReport) => void {
  const registers = [registry];
  const attempts = new Counter({
    name: "subtext_webhook_attempts_total",
    help: "Attempts of webhook deliveries. `outcome`: `delivered`, `retried`, `given_up`, `endpoint_disabled`. `answer`: `2xx` … `5xx`, or `timeout`, `dns`, `connection`, `tls`, `protocol`, `refused_address`.",
    labelNames: ["outcome", "answer"],
    registers,
  });
  const seconds = new Histogram({
    name: "subtext_webhook_attempt_seconds",
    help: "Response times of receivers, until the response or the failure. `outcome`: `delivered`, `failed`.",
    labelNames: ["outcome"],
    buckets: ATTEMPT_BUCKETS,
    registers,
  });
  const delay = new Histogram({
    name: "subtext_webhook_first_attempt_delay_seconds",
    help: "Time from the commit of an event to the first attempt of each delivery.",
    buckets: DELAY_BUCKETS,
    registers,
  });

  return ({ number, createdAt, attemptedAt, latencyMs, status, failure, next }) => {
    const answer = status === null ? (failure ?? "none") : `${Math.trunc(status / 100)}xx`;
    attempts.inc({ outcome: OUTCOMES[next], answer });
    seconds.observe({ outcome: next === "delivered" ? "delivered" : "failed" }, latencyMs / 1000);
    if (number === 1) delay.observe(Math.max(0, attemptedAt.getTime() - createdAt.getTime()) / 1000);
  };
}

const OUTCOMES = {
  delivered: "delivered",
  retry: "retried",
  give_up: "given_up",
  disable_endpoint: "endpoint_disabled",
} as const satisfies Record<DeliveryReport["next"], string>;
