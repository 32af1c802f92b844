import { FILE_FORMATS, type FileFormat } from "@subtext/client/contract/transcription";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { messageOf } from "../../admin-client/request.ts";
import controls from "../../ui/controls.module.css";
import { Button, Notice } from "../../ui/controls.tsx";
import { DownloadIcon } from "../../ui/icons.tsx";
import { fileUrl, type VideoAddress, videoQuery } from "./queries.ts";

const NAMES: Record<FileFormat, string> = {
  vtt: "Captions (VTT)",
  txt: "Text (TXT)",
  json: "Word timings (JSON)",
};

export function Downloads({ address }: { address: VideoAddress }) {
  const queryClient = useQueryClient();
  const [problem, setProblem] = useState<string | null>(null);
  const download = async (format: FileFormat) => {
    setProblem(null);
    try {
      // A link could not say that the session has ended, or that the video was deleted.
      await queryClient.fetchQuery({ ...videoQuery(address), staleTime: 0 });
      const link = document.createElement("a");
      link.href = fileUrl(address, format);
      link.download = "";
      link.click();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <>
      <MenuTrigger>
        <Button look="quiet" square aria-label="Download">
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
      {problem && <Notice tone="bad">{problem}</Notice>}
    </>
  );
}
