import { Button } from "../../ui/controls.tsx";
import { bytes } from "../../ui/format.ts";
import { CloseIcon } from "../../ui/icons.tsx";
import { Progress } from "../../ui/progress.tsx";
import css from "./upload-panel.module.css";
import type { UploadView } from "./upload-queue.ts";
import { useUploads } from "./use-uploads.ts";

/** What this browser is sending; stays while pages change, and goes when all is done. */
export function UploadPanel() {
  const { uploads, views } = useUploads();
  if (views.length === 0) return null;
  const left = views.filter(({ state }) => state === "waiting" || state === "uploading").length;
  const failed = views.filter(({ state }) => state === "failed").length;
  const title =
    left > 0
      ? `Uploading ${views.length - left + 1} of ${views.length}`
      : failed > 0
        ? `${failed} ${failed === 1 ? "upload" : "uploads"} failed`
        : "Uploaded";
  return (
    <section className={css.panel} aria-label="Uploads">
      <div className={css.head}>
        <h2>
          <span role="status">{title}</span>
        </h2>
        {left === 0 && failed === 0 && (
          <Button look="quiet" square aria-label="Close uploads" onPress={() => uploads.clearDone()}>
            <CloseIcon />
          </Button>
        )}
      </div>
      <ul className={css.list}>
        {views.map((view) => (
          <li key={view.id}>
            <Line view={view} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Line({ view }: { view: UploadView }) {
  const { uploads } = useUploads();
  const { id, filename, sizeBytes, sentBytes, state, problem } = view;
  return (
    <>
      <div className={css.line}>
        <span className={css.name} title={filename}>
          {filename}
        </span>
        <span className={css.text}>{state === "done" ? "Done" : bytes(sizeBytes)}</span>
        {state === "failed" && (
          <Button look="quiet" aria-label={`Retry upload of ${filename}`} onPress={() => uploads.retry(id)}>
            Retry
          </Button>
        )}
        {state !== "done" && (
          <Button
            look="quiet"
            square
            aria-label={`Cancel upload of ${filename}`}
            onPress={() => uploads.remove(id)}
          >
            <CloseIcon />
          </Button>
        )}
      </div>
      {state === "uploading" && (
        <Progress name={`Upload of ${filename}`} share={sizeBytes === 0 ? 1 : sentBytes / sizeBytes} />
      )}
      {problem && <p className={css.problem}>{problem}</p>}
    </>
  );
}
