import { useState } from "react";
import { Form, FormActions, ModalDialog, SegmentedControl, TextField } from "../../../ui/forms/controls.tsx";

export interface SpeakerChoice {
  name: string | null;
  everywhere: boolean;
}

/** Asks for the name of a speaker. An empty name removes the speaker. */
export function SpeakerDialog({
  current,
  speakers,
  isSelection,
  onChoose,
  onClose,
}: {
  current: string | null;
  speakers: readonly string[];
  /** Whether the name applies only to the selected words. */
  isSelection: boolean;
  onChoose(choice: SpeakerChoice): void;
  onClose(): void;
}) {
  const [name, setName] = useState(current ?? "");
  const [scope, setScope] = useState<"here" | "everywhere">("here");
  const others = speakers.filter((speaker) => speaker !== current);
  return (
    <ModalDialog
      title={isSelection ? "Speaker of the selected words" : "Speaker"}
      isOpen
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      {() => (
        <Form
          onSubmit={() => {
            onChoose({ name: name.trim() === "" ? null : name.trim(), everywhere: scope === "everywhere" });
            onClose();
          }}
        >
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            maxLength={100}
            autoFocus
            hint={
              others.length > 0 ? `Other speakers: ${others.join(", ")}` : "Leave empty to remove the name."
            }
          />
          {current !== null && !isSelection && (
            <SegmentedControl
              label="Apply to"
              value={scope}
              onChange={setScope}
              options={[
                { value: "here", name: "This paragraph" },
                { value: "everywhere", name: `Everything ${current} says` },
              ]}
            />
          )}
          <FormActions submitLabel="Save" isPending={false} onCancel={onClose} />
        </Form>
      )}
    </ModalDialog>
  );
}
