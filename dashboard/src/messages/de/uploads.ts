import type { uploads as english } from "../en/uploads.ts";
import { plural } from "../numbers.ts";

export const uploads: typeof english = {
  title: "Uploads",
  uploading: (position, total) => `${position} von ${total} wird hochgeladen`,
  failedCount: (count) => `${plural(count, "Upload", "Uploads")} fehlgeschlagen`,
  uploaded: "Hochgeladen",
  close: "Uploads schließen",
  done: "Fertig",
  retry: "Wiederholen",
  retryOf: (name) => `Upload von ${name} wiederholen`,
  cancelOf: (name) => `Upload von ${name} abbrechen`,
  uploadOf: (name) => `Upload von ${name}`,
  otherTab: "Diese Datei wird bereits in einem anderen Tab hochgeladen.",
  emptyFile: "Die Datei ist leer.",
  rejected: (status) => `Der Upload wurde abgelehnt (HTTP ${status}).`,
};
