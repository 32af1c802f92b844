import { type EnvironmentView, MAX_COUNTED_DUE } from "@subtext/server/admin/contract/environment";
import { MAX_RETENTION_DAYS, type RetentionPolicy } from "@subtext/server/db/enums";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../admin-client/request.ts";
import { useRole } from "../../hooks/use-me.ts";
import { forms } from "../../messages/en/forms.ts";
import { settings as texts } from "../../messages/en/settings.ts";
import { Confirmation } from "../../ui/confirm.tsx";
import { Form, TextField } from "../../ui/forms/controls.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
import { Section } from "../../ui/page.tsx";
import { RadioOptions, SaveButton, useChangeEnvironment, useUndoableChange } from "./settings-form.tsx";

const OPTIONS = [
  { value: "nothing", ...texts.retentionOptions.nothing },
  { value: "recording", ...texts.retentionOptions.recording },
  { value: "video", ...texts.retentionOptions.video },
] as const;

interface Preview {
  retention: RetentionPolicy;
  /** Number of videos that the policy would affect immediately, counted up to `MAX_COUNTED_DUE`. */
  videos: number;
}

/** Before saving a policy that deletes something, shows how many videos it affects and asks for confirmation. */
export function Retention({ environment }: { environment: EnvironmentView }) {
  const isOwner = useRole() === "owner";
  const { retention: saved } = environment;
  const [deletes, setDeletes] = useState(optionOf(saved));
  const [days, setDays] = useState(daysOf(saved));
  const [preview, setPreview] = useState<Preview | null>(null);
  const changeWithoutUndo = useChangeEnvironment(environment);
  const change = useUndoableChange(environment, {
    text: () => texts.saved.retention,
    onUndone({ retention }) {
      setDeletes(optionOf(retention));
      setDays(daysOf(retention));
    },
  });
  const loadPreview = useMutation({
    mutationFn: async (retention: RetentionPolicy) => {
      const { videos } = await request("GET /environments/:environment/retention-effect", {
        params: { environment: environment.id },
        query: retention,
      });
      return { retention, videos };
    },
    onSuccess: setPreview,
  });
  const edited = deletes === "nothing" ? null : { days: Number(days), deletes };
  const isUnchanged = edited?.days === saved?.days && edited?.deletes === saved?.deletes;
  const submit = () => {
    change.reset();
    loadPreview.reset();
    if (edited === null) change.mutate({ retention: null });
    else loadPreview.mutate(edited);
  };
  return (
    <Section title={texts.retention} description={texts.retentionHint}>
      <Form onSubmit={submit} error={loadPreview.error ?? (preview ? null : change.error)}>
        <RadioOptions
          label={texts.whatToDelete}
          options={OPTIONS}
          value={deletes}
          onChange={setDeletes}
          isDisabled={!isOwner}
        />
        {deletes !== "nothing" && (
          <TextField
            label={texts.deleteAfter}
            hint={texts.deleteAfterHint}
            type="number"
            inputMode="numeric"
            value={days}
            onChange={setDays}
            isDisabled={!isOwner}
            isRequired
            validate={(text) => (isValidDays(text) ? null : texts.wholeNumber(MAX_RETENTION_DAYS))}
          />
        )}
        <SaveButton
          isOwner={isOwner}
          isDisabled={isUnchanged}
          isPending={loadPreview.isPending || change.isPending}
        />
      </Form>
      <ModalDialog
        title={texts.deleteQuestion[preview?.retention.deletes ?? "recording"]}
        isOpen={preview !== null}
        onOpenChange={(open) => !open && setPreview(null)}
      >
        {(close) =>
          preview && (
            <Confirmation
              label={preview.videos > 0 ? texts.saveAndDelete : forms.save}
              {...(preview.videos > 0 && { typed: environment.name })}
              action={() =>
                (preview.videos > 0 ? changeWithoutUndo : change).mutateAsync({
                  retention: preview.retention,
                })
              }
              close={close}
            >
              {previewText(preview)}
            </Confirmation>
          )
        }
      </ModalDialog>
    </Section>
  );
}

function optionOf(retention: RetentionPolicy | null): "nothing" | RetentionPolicy["deletes"] {
  return retention?.deletes ?? "nothing";
}

function daysOf(retention: RetentionPolicy | null): string {
  return String(retention?.days ?? 90);
}

function isValidDays(text: string): boolean {
  const days = Number(text);
  return Number.isInteger(days) && days >= 1 && days <= MAX_RETENTION_DAYS;
}

function previewText({ retention: { days, deletes }, videos }: Preview): string {
  if (videos === 0) return texts.noneAffected[deletes](days);
  return texts.affected[deletes](videos, videos >= MAX_COUNTED_DUE, days);
}
