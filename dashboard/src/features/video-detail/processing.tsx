import type { AttemptView, EventView, TimelineStepView } from "@subtext/server/admin/contract/video-detail";
import { failureInWords } from "../../ui/format.ts";
import css from "./details.module.css";
import { BEGINNINGS, deliveryInWords, hostOf, OUTCOMES, stepInWords, took, when } from "./texts.ts";

/** What happened, each step with the stretch of time that it took of the whole. */
export function Timeline({ steps }: { steps: readonly TimelineStepView[] }) {
  const [first] = steps;
  if (!first) return null;
  const begin = Date.parse(first.at);
  // Deliveries may be tried for days; they would leave nothing to see of the rest.
  const last = steps.findLast(({ step }) => step !== "delivered") ?? first;
  const whole = Math.max(0.001, (Date.parse(last.at) - begin) / 1000);
  const share = (seconds: number) => `${Math.min(100, Math.max(0, (seconds / whole) * 100))}%`;
  return (
    <ol className={css.timeline}>
      {steps.map((step) => {
        const seconds = step.seconds ?? 0;
        const end = Math.min(whole, (Date.parse(step.at) - begin) / 1000);
        return (
          <li key={`${step.step} ${step.endpointUrl ?? ""}`} data-step={step.step}>
            <span className={css.stepName} title={stepInWords(step)}>
              {stepInWords(step)}
            </span>
            <span className={css.stepBar} aria-hidden="true">
              <span style={{ left: share(end - seconds), width: share(seconds) }} />
            </span>
            <time className={css.stepTime} dateTime={step.at} title={when(step.at)}>
              {step.seconds === null ? when(step.at).split(", ").at(-1) : took(seconds)}
            </time>
          </li>
        );
      })}
    </ol>
  );
}

export function Attempts({ attempts }: { attempts: readonly AttemptView[] }) {
  return (
    <ol className={css.lines}>
      {attempts.map(({ number, begunBy, startedAt, endedAt, outcome, failure }) => (
        <li key={number} data-outcome={outcome ?? "running"}>
          <p className={css.lineHead}>
            <strong>
              {number}. {outcome ? OUTCOMES[outcome] : "Running"}
            </strong>
            <span>
              {BEGINNINGS[begunBy]}, {when(startedAt)}
              {endedAt && `, took ${took((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)}`}
            </span>
          </p>
          {failure && (
            <p className={css.reason}>
              {failureInWords(failure).what} <code>{failure.code}</code>
              {failure.message && <span className={css.message}>{failure.message}</span>}
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

export function Deliveries({ events }: { events: readonly EventView[] }) {
  return (
    <ul className={css.lines}>
      {events.map(({ id, type, createdAt, deliveries }) => (
        <li key={id}>
          <p className={css.lineHead}>
            <strong>{type}</strong>
            <time dateTime={createdAt}>{when(createdAt)}</time>
          </p>
          {deliveries.length === 0 && <p className={css.reason}>No endpoint subscribed to this event.</p>}
          {deliveries.map((delivery) => (
            <p key={delivery.id} className={css.delivery} data-status={delivery.status}>
              <span title={delivery.endpointUrl}>{hostOf(delivery.endpointUrl)}</span>
              <span>{deliveryInWords(delivery)}</span>
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}
