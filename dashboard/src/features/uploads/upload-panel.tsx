import { uploads as texts } from "../../messages/en/uploads.ts";
import { formatBytes } from "../../ui/format.ts";
import { Button } from "../../ui/forms/controls.tsx";
import { CloseIcon } from "../../ui/icons.tsx";
import { Progress } from "../../ui/progress.tsx";
import css from "./upload-panel.module.css";
import type { UploadView } from "./upload-queue.ts";
import { useUploads } from "./use-uploads.ts";

export function UploadPanel() {
  const { uploads, views } = useUploads();
  if (views.length === 0) return null;
  const remaining = views.filter(({ state }) => state === "waiting" || state === "uploading").length;
  const failed = views.filter(({ state }) => state === "failed").length;
  const title =
    remaining > 0
      ? texts.uploading(views.length - remaining + 1, views.length)
      : failed > 0
        ? texts.failedCount(failed)
        : texts.uploaded;
  return (
    <section className={css.panel} aria-label={texts.title}>
      <div className={css.head}>
        <h2>
          <span role="status">{title}</span>
        </h2>
        {remaining === 0 && failed === 0 && (
          <Button variant="quiet" iconOnly aria-label={texts.close} onPress={() => uploads.clearDone()}>
            <CloseIcon />
          </Button>
        )}
      </div>
      <ul className={css.list}>
        {views.map((view) => (
          <li key={view.id}>
            <UploadItem view={view} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function UploadItem({ view }: { view: UploadView }) {
  const { uploads } = useUploads();
  const { id, filename, sizeBytes, sentBytes, state, problem } = view;
  return (
    <>
      <div className={css.line}>
        <span className={css.name} title={filename}>
          {filename}
        </span>
        <span className={css.text}>{state === "done" ? texts.done : formatBytes(sizeBytes)}</span>
        {state === "failed" && (
          <Button variant="quiet" aria-label={texts.retryOf(filename)} onPress={() => uploads.retry(id)}>
            {texts.retry}
          </Button>
        )}
        {state !== "done" && (
          <Button
            variant="quiet"
            iconOnly
            aria-label={texts.cancelOf(filename)}
            onPress={() => uploads.cancel(id)}
          >
            <CloseIcon />
          </Button>
        )}
      </div>
      {state === "uploading" && (
        <Progress label={texts.uploadOf(filename)} value={sizeBytes === 0 ? 1 : sentBytes / sizeBytes} />
      )}
      {problem && <p className={css.problem}>{problem}</p>}
    </>
  );
}
