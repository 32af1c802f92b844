import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { request } from "../../admin-client/request.ts";
import { usePageCommands } from "../../hooks/page-commands.ts";
import { videoDetail as texts } from "../../messages/en/video-detail.ts";
import { Button, ErrorNotice } from "../../ui/forms/controls.tsx";
import { type VideoAddress, videoParams, videoQuery } from "./queries.ts";

export function RetryTranscription({ address }: { address: VideoAddress }) {
  const queryClient = useQueryClient();
  const retry = useMutation({
    mutationFn: () =>
      request("POST /environments/:environment/videos/:video/reprocess", { params: videoParams(address) }),
    onSuccess: (video) => queryClient.setQueryData(videoQuery(address).queryKey, video),
  });
  usePageCommands({ name: texts.retryTranscription, run: () => retry.mutate() });
  return (
    <>
      <ErrorNotice error={retry.error} />
      <Button variant="primary" onPress={() => retry.mutate()} isPending={retry.isPending}>
        {texts.retryTranscription}
      </Button>
    </>
  );
}

/** Asks for no confirmation, because a retry continues from the last checkpoint. */
export function CancelTranscription({ address }: { address: VideoAddress }) {
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: () =>
      request("POST /environments/:environment/videos/:video/cancel", { params: videoParams(address) }),
    onSuccess: (video) => queryClient.setQueryData(videoQuery(address).queryKey, video),
  });
  usePageCommands({ name: texts.cancelTranscription, run: () => cancel.mutate() });
  return (
    <>
      <ErrorNotice error={cancel.error} />
      <Button onPress={() => cancel.mutate()} isPending={cancel.isPending}>
        {texts.cancelTranscription}
      </Button>
    </>
  );
}

/** Creates a video with the same recording, which is transcribed again, and opens it. */
export function TranscribeAsNewVideo({ address }: { address: VideoAddress }) {
  const navigate = useNavigate();
  const transcribe = useMutation({
    mutationFn: () =>
      request("POST /environments/:environment/videos/:video/transcribe-as-new", {
        params: videoParams(address),
      }),
    onSuccess: ({ id, environmentId }) =>
      navigate({
        to: "/environments/$environmentId/videos/$videoId",
        params: { environmentId, videoId: id },
      }),
  });
  usePageCommands({ name: texts.transcribeAsNew, run: () => transcribe.mutate() });
  return (
    <>
      <ErrorNotice error={transcribe.error} />
      <Button onPress={() => transcribe.mutate()} isPending={transcribe.isPending}>
        {texts.transcribeAsNew}
      </Button>
    </>
  );
}

const DeleteVideoDialog = lazy(async () => ({
  default: (await import("./delete-video-dialog.tsx")).DeleteVideoDialog,
}));

/** The code of the dialog is loaded on first use. */
export function DeleteVideo({ address, name }: { address: VideoAddress; name: string }) {
  const [isOpen, setOpen] = useState(false);
  usePageCommands({ name: texts.deleteVideo, run: () => setOpen(true) });
  return (
    <>
      <Button variant="danger" aria-haspopup="dialog" onPress={() => setOpen(true)}>
        {texts.delete}
      </Button>
      {isOpen && (
        <Suspense fallback={null}>
          <DeleteVideoDialog address={address} name={name} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
