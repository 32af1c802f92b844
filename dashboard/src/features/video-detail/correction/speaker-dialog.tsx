import { useState } from "react";
import { correction as texts } from "../../../messages/en/correction.ts";
import { forms } from "../../../messages/en/forms.ts";
import controls from "../../../ui/forms/controls.module.css";
import { Button, Form, FormActions, SegmentedControl, TextField } from "../../../ui/forms/controls.tsx";
import { ModalDialog } from "../../../ui/forms/modal-dialog.tsx";
import css from "./transcript-editor.module.css";

export interface SpeakerChoice {
  name: string | null;
  everywhere: boolean;
}

/** Asks for the name of a speaker. An empty name removes the speaker. */
export function SpeakerDialog({
  current,
  channel,
  speakers,
  isSelection,
  onChoose,
  onClose,
}: {
  current: string | null;
  /** Channel of the words, if the recording has one speaker per channel. */
  channel: number | null;
  speakers: readonly string[];
  /** Whether the name applies only to the selected words. */
  isSelection: boolean;
  onChoose(choice: SpeakerChoice): void;
  onClose(): void;
}) {
  const [name, setName] = useState(current ?? "");
  const [scope, setScope] = useState<"here" | "everywhere">(
    current === null && channel !== null ? "everywhere" : "here",
  );
  const everything =
    current !== null ? texts.everything(current) : channel !== null ? texts.allOfChannel(channel) : null;
  const others = speakers.filter((speaker) => speaker !== current);
  const choose = (chosen: string) => {
    const trimmed = chosen.trim();
    onChoose({ name: trimmed === "" ? null : trimmed, everywhere: scope === "everywhere" && !isSelection });
    onClose();
  };
  return (
    <ModalDialog
      title={isSelection ? texts.speakerOfSelection : texts.speaker}
      isOpen
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      {() => (
        <Form onSubmit={() => choose(name)}>
          <TextField
            label={forms.name}
            value={name}
            onChange={setName}
            maxLength={100}
            autoFocus
            {...(current !== null && { hint: texts.emptyRemoves })}
          />
          {everything !== null && !isSelection && (
            <SegmentedControl
              label={texts.applyTo}
              value={scope}
              onChange={setScope}
              options={[
                { value: "here", name: texts.thisParagraph },
                { value: "everywhere", name: everything },
              ]}
            />
          )}
          {others.length > 0 && (
            <fieldset className={css.speakers}>
              <legend className={controls.label}>{texts.otherSpeakers}</legend>
              {others.map((speaker) => (
                <Button key={speaker} onPress={() => choose(speaker)}>
                  {speaker}
                </Button>
              ))}
            </fieldset>
          )}
          <FormActions submitLabel={forms.save} isPending={false} onCancel={onClose} />
        </Form>
      )}
    </ModalDialog>
  );
}
