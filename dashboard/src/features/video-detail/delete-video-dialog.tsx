import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { videosKey } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { videoDetail as texts } from "../../messages/en/video-detail.ts";
import { Confirmation } from "../../ui/confirm.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
import { RichText } from "../../ui/rich-text.tsx";
import { type VideoAddress, videoParams, videoQuery } from "./queries.ts";

export function DeleteVideoDialog({
  address,
  name,
  onClose,
}: {
  address: VideoAddress;
  name: string;
  onClose(): void;
}) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const remove = async () => {
    await request("DELETE /environments/:environment/videos/:video", { params: videoParams(address) });
    const { environmentId } = address;
    queryClient.invalidateQueries({ queryKey: videosKey(environmentId), refetchType: "none" });
    await navigate({ to: "/environments/$environmentId/videos", params: { environmentId } });
    queryClient.removeQueries({ queryKey: videoQuery(address).queryKey });
  };
  return (
    <ModalDialog title={texts.deleteQuestion} isOpen onOpenChange={onClose}>
      {(close) => (
        <Confirmation label={texts.delete} typed={name} action={remove} close={close}>
          <RichText parts={texts.deleteEffect(<strong dir="auto">{name}</strong>)} />
        </Confirmation>
      )}
    </ModalDialog>
  );
}
