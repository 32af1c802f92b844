import { FAILURE_CODES, type FailureCode } from "@subtext/client/contract/transcription";
import { SPEECH_ERRORS } from "@subtext/speech/errors";
import { APP_ERRORS } from "../../server/src/lib/errors.ts";
import { ERROR_DESCRIPTIONS, FAILURE_DESCRIPTIONS } from "./error-descriptions.ts";
import { renderTable } from "./markdown.ts";

const FAILURES: Record<FailureCode, { retryable: boolean }> = {
  ...APP_ERRORS,
  ...SPEECH_ERRORS,
  // More workers were lost than lost attempts are retried.
  worker_lost: { retryable: false },
  canceled: { retryable: false },
};

/** Renders the errors of the HTTP API and of the service. */
export function renderErrors(): string {
  const codes = Object.keys(APP_ERRORS) as (keyof typeof APP_ERRORS)[];
  const rows = codes.map((code) => {
    const { status, retryable } = APP_ERRORS[code];
    return [`\`${code}\``, String(status), yesOrNo(retryable), ERROR_DESCRIPTIONS[code]];
  });
  return renderTable(["code", "status", "retry", "cause and remedy"], rows);
}

/** Renders the reasons of FAILED transcriptions. */
export function renderFailures(): string {
  const rows = FAILURE_CODES.map((code) => [
    `\`${code}\``,
    yesOrNo(FAILURES[code].retryable),
    FAILURE_DESCRIPTIONS[code],
  ]);
  return renderTable(["code", "retried", "cause and remedy"], rows);
}

function yesOrNo(value: boolean): string {
  return value ? "yes" : "no";
}
