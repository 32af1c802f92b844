import type { DiskView } from "@subtext/server/admin/contract/system";
import { ago, bytes } from "../../ui/format.ts";
import { Card } from "./card.tsx";
import { ShareBar } from "./share-bar.tsx";
import css from "./tables.module.css";

/** By the data folder's folders; others go by their own names. */
const PARTS: Record<string, string> = {
  uploads: "Recordings",
  files: "Transcripts",
  database: "Database",
  models: "Speech models",
};

export function Disk({ disk, now }: { disk: DiskView; now: string }) {
  const { folder, totalBytes, freeBytes, use } = disk;
  const parts = (use?.parts ?? [])
    .filter(({ bytes: size }) => size > 0)
    .map(({ name, bytes: size }) => ({ name: PARTS[name] ?? name, size, text: bytes(size) }));
  const own = parts.reduce((sum, { size }) => sum + size, 0);
  const rest = Math.max(0, totalBytes - freeBytes - own);
  return (
    <Card wide title="Disk" aside={`${bytes(freeBytes)} free of ${bytes(totalBytes)}`}>
      <ShareBar
        whole={totalBytes}
        parts={parts}
        rest={use && { name: "Everything else", size: rest, text: bytes(rest) }}
      />
      <p className={css.none}>
        <code>{folder}</code>
        {use
          ? ` · ${use.videos.toLocaleString("en")} videos, uploaded with ${bytes(use.uploadedBytes)} · measured ${ago(use.measuredAt, Date.parse(now))}`
          : " · The files are being measured."}
      </p>
    </Card>
  );
}
