import { PERMISSION_TEXTS, type Permission } from "@subtext/client/contract/permission";
import type { NewApiKeyView } from "@subtext/server/admin/contract/api-key";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { request } from "../../admin-client/request.ts";
import { CodeBlock, Secret } from "../../ui/copy.tsx";
import controls from "../../ui/forms/controls.module.css";
import { Button, Form, FormActions, ModalDialog, Notice, TextField } from "../../ui/forms/controls.tsx";
import { CheckboxList, type SelectedTime, TimeSelect } from "../../ui/forms/form-fields.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { curlExample } from "./permissions.ts";
import { apiKeysKey } from "./queries.ts";

const EXPIRIES = {
  never: "Never",
  month: "In 30 days",
  quarter: "In 90 days",
  year: "In 365 days",
  date: "Custom date",
} as const;
type Expiry = keyof typeof EXPIRIES;
const CUSTOM_DATE = {
  id: "date",
  label: "Last day",
  type: "date",
  hint: "The key works until the end of this day in your time zone.",
} as const;
const DAYS = { month: 30, quarter: 90, year: 365 } as const;

/** The key is shown only once, so its dialog asks for confirmation before it closes. */
export function NewKey({ environmentId }: { environmentId: string }) {
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<NewApiKeyView | null>(null);
  const [isConfirming, setConfirming] = useState(false);
  const open = () => {
    setCreated(null);
    setConfirming(false);
    setOpen(true);
  };
  const close = () => setOpen(false);
  return (
    <>
      <Button variant="primary" onPress={open}>
        <PlusIcon /> New key
      </Button>
      <ModalDialog
        title={created ? "API key created" : "New API key"}
        isOpen={isOpen}
        onOpenChange={(opens) => {
          if (!opens && created) setConfirming(true);
          else if (!opens) close();
        }}
      >
        {() =>
          created ? (
            <CreatedKey
              created={created}
              isConfirming={isConfirming}
              setConfirming={setConfirming}
              close={close}
            />
          ) : (
            <KeyForm environmentId={environmentId} onCreated={setCreated} onCancel={close} />
          )
        }
      </ModalDialog>
    </>
  );
}

function KeyForm({
  environmentId,
  onCreated,
  onCancel,
}: {
  environmentId: string;
  onCreated(key: NewApiKeyView): void;
  onCancel(): void;
}) {
  const queryClient = useQueryClient();
  const [name, setName] = useState("");
  const [permissions, setPermissions] = useState<Permission[]>(["get_video", "create_video"]);
  const [expiry, setExpiry] = useState<SelectedTime<Expiry>>({ id: "never", custom: "" });
  const create = useMutation({
    mutationFn: () => {
      const expiresAt = expiryTime(expiry, Date.now());
      const body = { name, permissions, ...(expiresAt && { expiresAt }) };
      return request("POST /environments/:environment/api-keys", {
        params: { environment: environmentId },
        body,
      });
    },
    onSuccess: async (key) => {
      onCreated(key);
      await queryClient.invalidateQueries({ queryKey: apiKeysKey(environmentId) });
    },
  });
  return (
    <Form onSubmit={() => create.mutate()} error={create.error}>
      <TextField
        label="Name"
        hint="e.g. the app that will use it"
        placeholder="Website backend"
        value={name}
        onChange={setName}
        isRequired
        maxLength={100}
        autoFocus
      />
      <CheckboxList
        label="Permissions"
        options={PERMISSION_TEXTS}
        value={permissions}
        onChange={setPermissions}
      />
      <TimeSelect
        label="Expires"
        options={EXPIRIES}
        custom={CUSTOM_DATE}
        value={expiry}
        onChange={setExpiry}
      />
      <FormActions submitLabel="Create key" isPending={create.isPending} onCancel={onCancel} />
    </Form>
  );
}

function expiryTime({ id, custom }: SelectedTime<Expiry>, now: number): string | undefined {
  if (id === "never") return undefined;
  if (id === "date") return new Date(`${custom}T23:59:59.999`).toISOString();
  return new Date(now + DAYS[id] * 86_400_000).toISOString();
}

function CreatedKey({
  created,
  isConfirming,
  setConfirming,
  close,
}: {
  created: NewApiKeyView;
  isConfirming: boolean;
  setConfirming(confirming: boolean): void;
  close(): void;
}) {
  const text = useRef<HTMLParagraphElement>(null);
  // The element with the focus was removed with the form.
  useEffect(() => text.current?.focus(), []);
  return (
    <>
      <p ref={text} tabIndex={-1}>
        Copy this key now. You won't be able to see it again.
      </p>
      <Secret label="API key" value={created.key} />
      <CodeBlock
        label="Try it in a terminal"
        text={curlExample(created.key, created.permissions, location.origin)}
      />
      {isConfirming ? (
        <>
          <Notice tone="plain">Have you saved this key?</Notice>
          <div className={controls.actions}>
            <Button onPress={() => setConfirming(false)}>Back</Button>
            <Button variant="primary" onPress={close} autoFocus>
              I've saved this key
            </Button>
          </div>
        </>
      ) : (
        <div className={controls.actions}>
          <Button variant="primary" onPress={() => setConfirming(true)}>
            Done
          </Button>
        </div>
      )}
    </>
  );
}
