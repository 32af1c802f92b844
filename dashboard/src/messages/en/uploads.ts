import { plural } from "../numbers.ts";
import { translated } from "../translated.ts";

export const uploads = translated("uploads", {
  title: "Uploads",
  uploading: (position: number, total: number) => `Uploading ${position} of ${total}`,
  failedCount: (count: number) => `${plural(count, "upload", "uploads")} failed`,
  uploaded: "Uploaded",
  close: "Close uploads",
  done: "Done",
  retry: "Retry",
  retryOf: (name: string) => `Retry upload of ${name}`,
  cancelOf: (name: string) => `Cancel upload of ${name}`,
  uploadOf: (name: string) => `Upload of ${name}`,
  otherTab: "This file is already being uploaded in another tab.",
  emptyFile: "The file is empty.",
  rejected: (status: number) => `The upload was rejected (HTTP ${status}).`,
});
