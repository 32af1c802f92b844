import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { MAX_RETENTION_DAYS, type RetentionPolicy } from "@subtext/server/db/enums";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { messageOf, request } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import controls from "../../ui/controls.module.css";
import { Button, ModalDialog, Notice, TextField } from "../../ui/controls.tsx";
import { Section } from "../../ui/page.tsx";
import css from "./settings-form.module.css";

type Choice = "nothing" | RetentionPolicy["deletes"];

const CHOICES: [Choice, string, string][] = [
  ["nothing", "Keep everything", "Until somebody deletes it."],
  ["recording", "Delete recordings", "Transcripts, captions and search stay, and their URLs work."],
  ["video", "Delete videos", "With their transcripts and captions."],
];

/** How long the videos of an environment are kept. */
export function Retention({ environment }: { environment: EnvironmentView }) {
  const { isOwner } = useMe();
  const queryClient = useQueryClient();
  const { retention: saved } = environment;
  const [choice, setChoice] = useState<Choice>(saved?.deletes ?? "nothing");
  const [days, setDays] = useState(String(saved?.days ?? 90));
  const [asked, setAsked] = useState<{ retention: RetentionPolicy; videos: number } | null>(null);
  const params = { environment: environment.id };

  const change = useMutation({
    mutationFn: (retention: RetentionPolicy | null) =>
      request("PATCH /environments/:environment", { params, body: { retention } }),
    onSuccess: (changed) => {
      queryClient.setQueryData(environmentsQuery.queryKey, (known) =>
        known?.map((each) => (each.id === changed.id ? changed : each)),
      );
      setAsked(null);
    },
  });
  const look = useMutation({
    mutationFn: async (retention: RetentionPolicy) => {
      const { videos } = await request("GET /environments/:environment/retention-effect", {
        params,
        query: retention,
      });
      return { retention, videos };
    },
    onSuccess: setAsked,
  });
  const wanted = choice === "nothing" ? null : { days: Number(days), deletes: choice };
  const isSame = wanted?.days === saved?.days && wanted?.deletes === saved?.deletes;
  const save = (event: FormEvent) => {
    event.preventDefault();
    change.reset();
    if (wanted === null) change.mutate(null);
    else look.mutate(wanted);
  };
  const error = asked ? look.error : (look.error ?? change.error);
  return (
    <Section
      title="Retention"
      lead="Old videos can be deleted automatically. What is deleted is gone for good."
    >
      <Form className={css.form ?? ""} onSubmit={save}>
        {error && <Notice tone="bad">{messageOf(error)}</Notice>}
        <fieldset className={css.choices} disabled={!isOwner}>
          <legend className={controls.hidden}>What is deleted</legend>
          {CHOICES.map(([value, name, words]) => (
            <label key={value} className={css.choice}>
              <input
                type="radio"
                name="retention"
                checked={choice === value}
                onChange={() => setChoice(value)}
              />
              <span>
                <strong>{name}</strong>
                <span className={css.words}>{words}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {choice !== "nothing" && (
          <TextField
            label="After how many days"
            hint="From the end of the transcription, failed ones too; without one, from the end of the upload. What waits or is being transcribed stays."
            type="number"
            inputMode="numeric"
            value={days}
            onChange={setDays}
            isDisabled={!isOwner}
            isRequired
            validate={(text) =>
              isDays(text) ? null : `A whole number of days, 1 to ${MAX_RETENTION_DAYS.toLocaleString("en")}.`
            }
          />
        )}
        {isOwner ? (
          <div>
            <Button
              type="submit"
              look="primary"
              isDisabled={isSame}
              isPending={look.isPending || change.isPending}
            >
              Save
            </Button>
          </div>
        ) : (
          <p>Only an owner can change this.</p>
        )}
      </Form>
      <ModalDialog
        title={asked?.retention.deletes === "video" ? "Delete old videos?" : "Delete old recordings?"}
        isOpen={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
      >
        {(close) =>
          asked && (
            <>
              <p>{effectInWords(asked)}</p>
              {change.error && <Notice tone="bad">{messageOf(change.error)}</Notice>}
              <div className={controls.actions}>
                <Button onPress={close}>Cancel</Button>
                <Button
                  look={asked.videos > 0 ? "danger" : "primary"}
                  isPending={change.isPending}
                  onPress={() => change.mutate(asked.retention)}
                >
                  {asked.videos > 0 ? "Save and delete" : "Save"}
                </Button>
              </div>
            </>
          )
        }
      </ModalDialog>
    </Section>
  );
}

function isDays(text: string): boolean {
  const days = Number(text);
  return Number.isInteger(days) && days >= 1 && days <= MAX_RETENTION_DAYS;
}

function effectInWords({ retention, videos }: { retention: RetentionPolicy; videos: number }): string {
  const { days, deletes } = retention;
  const age = days === 1 ? "a day" : `${days.toLocaleString("en")} days`;
  const count =
    videos >= 10_000
      ? "10,000 videos or more"
      : videos === 1
        ? "1 video"
        : `${videos.toLocaleString("en")} videos`;
  if (videos === 0) return `No video is older than ${age} now. From now on each goes when it is.`;
  return deletes === "video"
    ? `${count} of this environment ${videos === 1 ? "is" : "are"} older than ${age}: deleted within minutes, with transcripts and captions, for good.`
    : `${count} of this environment ${videos === 1 ? "is" : "are"} older than ${age}: the recordings are deleted within minutes, for good. Transcripts and captions stay.`;
}
