import type { FileFormat } from "@subtext/client/contract/transcription";
import { SPEAKER_FORMATS } from "@subtext/server/admin/contract/video-detail";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { usePageCommands } from "../../hooks/page-commands.ts";
import { videoDetail as texts } from "../../messages/en/video-detail.ts";
import { ActionMenu } from "../../ui/action-menu/action-menu.tsx";
import { ErrorNotice } from "../../ui/forms/controls.tsx";
import { DownloadIcon } from "../../ui/icons.tsx";
import { fileUrl, speakerFileUrl, type VideoAddress, videoQuery } from "./queries.ts";

interface DownloadMenuProps {
  address: VideoAddress;
  formats: FileFormat[];
  /** Whether files with the names of speakers are offered. */
  hasSpeakers: boolean;
}

export function DownloadMenu({ address, formats, hasSpeakers }: DownloadMenuProps) {
  const queryClient = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const download = async (url: string) => {
    setError(null);
    try {
      // Check first, because a download link would fail silently if the session ended or the video was deleted.
      await queryClient.fetchQuery({ ...videoQuery(address), staleTime: 0 });
      const link = document.createElement("a");
      link.href = url;
      link.download = "";
      link.click();
    } catch (failure) {
      setError(failure);
    }
  };
  const action = (name: string, url: string) => ({ name, run: () => void download(url) });
  const files = formats.map((format) => action(formatName(format), fileUrl(address, format)));
  const speakerFiles = SPEAKER_FORMATS.map((format) =>
    action(texts.speakerFormats[format], speakerFileUrl(address, format)),
  );
  const offered = hasSpeakers ? [...files, ...speakerFiles] : files;
  usePageCommands(...offered.map(({ name, run }) => ({ name: texts.downloadFile(name), run })));
  return (
    <>
      <ActionMenu label={texts.download} actions={offered}>
        <DownloadIcon />
      </ActionMenu>
      <ErrorNotice error={error} />
    </>
  );
}

/** Returns the format's own name if only a newer release of the service knows it. */
function formatName(format: FileFormat): string {
  return Object.hasOwn(texts.formats, format) ? texts.formats[format] : format.toUpperCase();
}
