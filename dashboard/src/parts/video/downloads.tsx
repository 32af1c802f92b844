import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { messageOf } from "../../data/request.ts";
import { type VideoAddress, videoQuery } from "../../data/video-detail.ts";
import controls from "../../design/controls.module.css";
import { Button, Notice } from "../../design/controls.tsx";
import { DownloadIcon } from "../../design/icons.tsx";

const FORMATS = [
  { format: "vtt", name: "Captions (VTT)" },
  { format: "txt", name: "Text (TXT)" },
  { format: "json", name: "Words with times (JSON)" },
] as const;

export function Downloads({ address }: { address: VideoAddress }) {
  const queryClient = useQueryClient();
  const [problem, setProblem] = useState<string | null>(null);
  const download = async (format: (typeof FORMATS)[number]["format"]) => {
    setProblem(null);
    try {
      // Addresses end after minutes; the page may be open for hours.
      const { transcription } = await queryClient.fetchQuery({ ...videoQuery(address), staleTime: 0 });
      const file = transcription?.files?.[format];
      if (!file) return;
      const link = document.createElement("a");
      link.href = file.url;
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
            onAction={(key) => download(FORMATS.find(({ format }) => format === key)!.format)}
          >
            {FORMATS.map(({ format, name }) => (
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
