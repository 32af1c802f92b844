import type { Permission } from "@subtext/client/contract/permission";
import type { NewApiKeyView } from "@subtext/server/admin/contract/api-key";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { Form } from "react-aria-components";
import { messageOf, request } from "../../admin-client/request.ts";
import { Code } from "../../ui/code.tsx";
import controls from "../../ui/controls.module.css";
import { Button, ModalDialog, Notice, TextField } from "../../ui/controls.tsx";
import { CheckList } from "../../ui/form-fields.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { Secret } from "../../ui/page.tsx";
import { type ChosenTime, TimeChoice } from "../../ui/time-choice.tsx";
import { curlWith, PERMISSION_WORDS } from "./permissions.ts";
import { keysKey } from "./queries.ts";

const LIFETIMES = {
  never: "Never",
  month: "In 30 days",
  quarter: "In 90 days",
  year: "In 365 days",
  date: "On a day",
} as const;
type Lifetime = keyof typeof LIFETIMES;
const OWN_DAY = {
  id: "date",
  label: "Last day",
  type: "date",
  hint: "It works until the end of this day, where you are.",
} as const;
const DAYS = { month: 30, quarter: 90, year: 365 } as const;

/** A key is shown this once, so its dialog closes only after it was said to be stored. */
export function NewKey({ environmentId }: { environmentId: string }) {
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<NewApiKeyView | null>(null);
  const [isAsking, setAsking] = useState(false);
  const open = () => {
    setMade(null);
    setAsking(false);
    setOpen(true);
  };
  const close = () => setOpen(false);
  return (
    <>
      <Button look="primary" onPress={open}>
        <PlusIcon /> New key
      </Button>
      <ModalDialog
        title={made ? "Your new key" : "New API key"}
        isOpen={isOpen}
        onOpenChange={(wanted) => {
          if (!wanted && made) setAsking(true);
          else if (!wanted) close();
        }}
      >
        {() =>
          made ? (
            <MadeKey made={made} isAsking={isAsking} setAsking={setAsking} close={close} />
          ) : (
            <KeyForm environmentId={environmentId} onMade={setMade} onCancel={close} />
          )
        }
      </ModalDialog>
    </>
  );
}

function KeyForm({
  environmentId,
  onMade,
  onCancel,
}: {
  environmentId: string;
  onMade(key: NewApiKeyView): void;
  onCancel(): void;
}) {
  const queryClient = useQueryClient();
  const [name, setName] = useState("");
  const [permissions, setPermissions] = useState<Permission[]>(["get_video", "create_video"]);
  const [end, setEnd] = useState<ChosenTime<Lifetime>>({ id: "never", own: "" });
  const make = useMutation({
    mutationFn: () => {
      const expiresAt = endOf(end, Date.now());
      const body = { name, permissions, ...(expiresAt && { expiresAt }) };
      return request("POST /environments/:environment/api-keys", {
        params: { environment: environmentId },
        body,
      });
    },
    onSuccess: async (key) => {
      onMade(key);
      await queryClient.invalidateQueries({ queryKey: keysKey(environmentId) });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Form className={controls.form ?? ""} onSubmit={submit}>
      {make.error && <Notice tone="bad">{messageOf(make.error)}</Notice>}
      <TextField
        label="Name"
        hint="What will use it."
        placeholder="Website backend"
        value={name}
        onChange={setName}
        isRequired
        maxLength={100}
        autoFocus
      />
      <CheckList label="It may" options={PERMISSION_WORDS} value={permissions} onChange={setPermissions} />
      <TimeChoice label="It ends" options={LIFETIMES} own={OWN_DAY} value={end} onChange={setEnd} />
      <div className={controls.actions}>
        <Button onPress={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" isPending={make.isPending}>
          Make the key
        </Button>
      </div>
    </Form>
  );
}

/** ISO 8601; undefined for never. */
function endOf({ id, own }: ChosenTime<Lifetime>, now: number): string | undefined {
  if (id === "never") return undefined;
  if (id === "date") return new Date(`${own}T23:59:59.999`).toISOString();
  return new Date(now + DAYS[id] * 86_400_000).toISOString();
}

function MadeKey({
  made,
  isAsking,
  setAsking,
  close,
}: {
  made: NewApiKeyView;
  isAsking: boolean;
  setAsking(asking: boolean): void;
  close(): void;
}) {
  const text = useRef<HTMLParagraphElement>(null);
  // What had the focus is gone.
  useEffect(() => text.current?.focus(), []);
  return (
    <>
      <p ref={text} tabIndex={-1}>
        This is the only time that <strong>{made.name}</strong> is shown. Store it where your secrets are
        kept.
      </p>
      <Secret name="API key" value={made.key} />
      <Code name="Try it in a terminal" text={curlWith(made.key, made.permissions, location.origin)} />
      {isAsking ? (
        <>
          <Notice tone="plain">Have you stored it? It can not be shown again.</Notice>
          <div className={controls.actions}>
            <Button onPress={() => setAsking(false)}>Not yet</Button>
            <Button look="primary" onPress={close} autoFocus>
              Yes, I have stored it
            </Button>
          </div>
        </>
      ) : (
        <div className={controls.actions}>
          <Button look="primary" onPress={() => setAsking(true)}>
            Done
          </Button>
        </div>
      )}
    </>
  );
}
