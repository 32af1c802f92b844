import { createContext, useContext, useSyncExternalStore } from "react";
import type { UploadQueue, UploadView } from "./upload-queue.ts";

export const UploadsContext = createContext<UploadQueue | null>(null);

export function useUploads(): { uploads: UploadQueue; views: readonly UploadView[] } {
  const uploads = useContext(UploadsContext);
  if (!uploads) throw new Error("useUploads must be used within <UploadsContext>");
  return { uploads, views: useSyncExternalStore(uploads.subscribe, uploads.views) };
}
