import type { DiskView } from "@subtext/server/admin/contract/system";
import { system as texts } from "../../messages/en/system.ts";
import { formatAgo, formatBytes } from "../../ui/format.ts";
import { Card } from "./card.tsx";
import { ShareBar } from "./share-bar.tsx";
import css from "./tables.module.css";

/** Labels for subfolders of the data folder. Other subfolders are labeled with their name. */
const FOLDER_NAMES: Record<string, string> = texts.folders;

export function Disk({ disk, now }: { disk: DiskView; now: string }) {
  const { folder, totalBytes, freeBytes, use } = disk;
  const parts = (use?.parts ?? [])
    .filter(({ bytes }) => bytes > 0)
    .map(({ name, bytes }) => ({ name: FOLDER_NAMES[name] ?? name, size: bytes, text: formatBytes(bytes) }));
  const usedBySubtext = parts.reduce((sum, { size }) => sum + size, 0);
  const other = Math.max(0, totalBytes - freeBytes - usedBySubtext);
  return (
    <Card isWide title={texts.disk} aside={texts.freeOf(formatBytes(freeBytes), formatBytes(totalBytes))}>
      <ShareBar
        total={totalBytes}
        parts={parts}
        rest={use && { name: texts.other, size: other, text: formatBytes(other) }}
      />
      <p className={css.note}>
        <code>{folder}</code>
        {use
          ? ` · ${texts.diskUse(use.videos, formatBytes(use.uploadedBytes), formatAgo(use.measuredAt, Date.parse(now)))}`
          : ` · ${texts.calculating}`}
      </p>
    </Card>
  );
}
