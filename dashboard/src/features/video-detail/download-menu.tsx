import { FILE_FORMATS, type FileFormat } from "@subtext/client/contract/transcription";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import controls from "../../ui/controls.module.css";
import { Button, ErrorNotice } from "../../ui/controls.tsx";
import { DownloadIcon } from "../../ui/icons.tsx";
import { fileUrl, type VideoAddress, videoQuery } from "./queries.ts";

const NAMES: Record<FileFormat, string> = {
  vtt: "Captions (VTT)",
  txt: "Text (TXT)",
  json: "Word timings (JSON)",
};

export function DownloadMenu({ address }: { address: VideoAddress }) {
  const queryClient = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const download = async (format: FileFormat) => {
    setError(null);
    try {
      // Checks first, because a failed download link would show no error: the session ended or the video was deleted.
      await queryClient.fetchQuery({ ...videoQuery(address), staleTime: 0 });
      const link = document.createElement("a");
      link.href = fileUrl(address, format);
      link.download = "";
      link.click();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <MenuTrigger>
        <Button variant="quiet" iconOnly aria-label="Download">
          <DownloadIcon />
        </Button>
        <Popover className={controls.popover ?? ""} placement="bottom end">
          <Menu
            className={controls.menu ?? ""}
            aria-label="Download"
            onAction={(key) => download(FILE_FORMATS.find((format) => format === key)!)}
          >
            {Object.entries(NAMES).map(([format, name]) => (
              <MenuItem key={format} id={format} className={controls.item ?? ""}>
                {name}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
      <ErrorNotice error={error} />
    </>
  );
}
