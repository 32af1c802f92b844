import { DEFAULT_PERMISSIONS, type Permission } from "@subtext/client/contract/permission";
import type { NewApiKeyView } from "@subtext/server/admin/contract/api-key";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { request } from "../../admin-client/request.ts";
import { useOpenHash } from "../../hooks/use-open-hash.ts";
import { apiKeys as texts } from "../../messages/en/api-keys.ts";
import { forms } from "../../messages/en/forms.ts";
import { CodeBlock, Secret } from "../../ui/copy.tsx";
import controls from "../../ui/forms/controls.module.css";
import { Button, Form, FormActions, Notice, TextField } from "../../ui/forms/controls.tsx";
import { CheckboxList, type SelectedTime, TimeSelect } from "../../ui/forms/form-fields.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { curlExample } from "./permissions.ts";
import { apiKeysKey } from "./queries.ts";

type Expiry = keyof typeof texts.expiries;
const CUSTOM_DATE = {
  id: "date",
  label: texts.lastDay,
  type: "date",
  hint: texts.lastDayHint,
} as const;
const DAYS = { month: 30, quarter: 90, year: 365 } as const;

/** The key is shown only once, so its dialog asks for confirmation before it closes. */
export function NewKey({ environmentId }: { environmentId: string }) {
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<NewApiKeyView | null>(null);
  const [isConfirming, setConfirming] = useState(false);
  const open = useCallback(() => {
    setCreated(null);
    setConfirming(false);
    setOpen(true);
  }, []);
  const close = () => setOpen(false);
  useOpenHash(open);
  return (
    <>
      <Button variant="primary" onPress={open}>
        <PlusIcon /> {texts.newKey}
      </Button>
      <ModalDialog
        title={created ? texts.keyCreated : texts.newApiKey}
        isOpen={isOpen}
        onOpenChange={(nextOpen) => {
          if (nextOpen) return;
          if (created) setConfirming(true);
          else close();
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
  const [permissions, setPermissions] = useState<Permission[]>([...DEFAULT_PERMISSIONS]);
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
        label={forms.name}
        hint={texts.nameHint}
        placeholder={texts.namePlaceholder}
        value={name}
        onChange={setName}
        isRequired
        maxLength={100}
        autoFocus
      />
      <CheckboxList
        label={texts.permissionsLabel}
        options={texts.permissions}
        value={permissions}
        onChange={setPermissions}
      />
      <TimeSelect
        label={texts.expires}
        options={texts.expiries}
        custom={CUSTOM_DATE}
        value={expiry}
        onChange={setExpiry}
      />
      <FormActions submitLabel={texts.create} isPending={create.isPending} onCancel={onCancel} />
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
  // The focused element was removed along with the form.
  useEffect(() => text.current?.focus(), []);
  return (
    <>
      <p ref={text} tabIndex={-1}>
        {texts.copyNow}
      </p>
      <Secret label={texts.apiKey} value={created.key} />
      <CodeBlock label={texts.tryIt} text={curlExample(created.key, created.permissions, location.origin)} />
      {isConfirming ? (
        <>
          <Notice tone="plain">{texts.savedQuestion}</Notice>
          <div className={controls.actions}>
            <Button onPress={() => setConfirming(false)}>{texts.back}</Button>
            <Button variant="primary" onPress={close} autoFocus>
              {texts.saved}
            </Button>
          </div>
        </>
      ) : (
        <div className={controls.actions}>
          <Button variant="primary" onPress={() => setConfirming(true)}>
            {texts.done}
          </Button>
        </div>
      )}
    </>
  );
}
