import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { videosKey } from "../../admin-client/queries.ts";
import { messageOf, request } from "../../admin-client/request.ts";
import controls from "../../ui/controls.module.css";
import { Button, ModalDialog, Notice } from "../../ui/controls.tsx";
import { type VideoAddress, videoParams, videoQuery } from "./queries.ts";

/** Of a failed one; what it was refused for stands beside it. */
export function Reprocess({ address }: { address: VideoAddress }) {
  const queryClient = useQueryClient();
  const reprocess = useMutation({
    mutationFn: () =>
      request("POST /environments/:environment/videos/:video/reprocess", { params: videoParams(address) }),
    onSuccess: (video) => queryClient.setQueryData(videoQuery(address).queryKey, video),
  });
  return (
    <>
      {reprocess.error && <Notice tone="bad">{messageOf(reprocess.error)}</Notice>}
      <Button look="primary" onPress={() => reprocess.mutate()} isPending={reprocess.isPending}>
        Retry transcription
      </Button>
    </>
  );
}

export function DeleteVideo({ address, name }: { address: VideoAddress; name: string }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const remove = useMutation({
    mutationFn: () =>
      request("DELETE /environments/:environment/videos/:video", { params: videoParams(address) }),
    onSuccess: async () => {
      const { environmentId } = address;
      queryClient.invalidateQueries({ queryKey: videosKey(environmentId), refetchType: "none" });
      await navigate({ to: "/environments/$environmentId/videos", params: { environmentId } });
      queryClient.removeQueries({ queryKey: videoQuery(address).queryKey });
    },
  });
  return (
    <>
      <Button look="danger" onPress={() => setOpen(true)}>
        Delete
      </Button>
      <ModalDialog title="Delete this video?" isOpen={isOpen} onOpenChange={setOpen}>
        {(close) => (
          <>
            <p>
              This permanently deletes <strong dir="auto">{name}</strong> with its transcript and captions.
            </p>
            {remove.error && <Notice tone="bad">{messageOf(remove.error)}</Notice>}
            <div className={controls.actions}>
              <Button onPress={close}>Cancel</Button>
              <Button look="danger" onPress={() => remove.mutate()} isPending={remove.isPending}>
                Delete
              </Button>
            </div>
          </>
        )}
      </ModalDialog>
    </>
  );
}
