import type { OperatorView } from "@subtext/server/admin/contract/operator";
import type { OperatorRole } from "@subtext/server/db/enums";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { DialogTrigger, Form, Label, Radio, RadioGroup } from "react-aria-components";
import { invitationsQuery, operatorsQuery } from "../../admin-client/queries.ts";
import { messageOf, request } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import controls from "../../ui/controls.module.css";
import { Button, ModalDialog, Notice, TextField } from "../../ui/controls.tsx";
import { ago } from "../../ui/format.ts";
import { PlusIcon } from "../../ui/icons.tsx";
import css from "../../ui/page.module.css";
import { PageHeader, Secret, Section } from "../../ui/page.tsx";
import { useSay } from "../../ui/toasts.tsx";

export function OperatorsPage() {
  const me = useMe();
  const operators = useQuery(operatorsQuery);
  return (
    <>
      <PageHeader
        title="Operators"
        lead="Owners may do everything. Viewers see everything and change nothing."
      >
        {me.isOwner && <Invite />}
      </PageHeader>
      <Section title="People">
        {operators.error && <Notice tone="bad">{messageOf(operators.error)}</Notice>}
        <ul className={css.rows}>
          {operators.data?.map((operator) => (
            <li key={operator.id}>
              <div>
                <div className={css.rowTitle}>
                  {operator.name}
                  <span className={css.badge}>{operator.role}</span>
                </div>
                <div className={css.rowText}>{operator.email}</div>
              </div>
              {me.isOwner && operator.id !== me.id && <Remove operator={operator} />}
            </li>
          ))}
        </ul>
      </Section>
      <Invitations />
    </>
  );
}

function Remove({ operator }: { operator: OperatorView }) {
  const say = useSay();
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: () => request("DELETE /operators/:id", { params: { id: operator.id } }),
    onSuccess: () => {
      say(`${operator.name} was removed.`);
      return queryClient.invalidateQueries(operatorsQuery);
    },
  });
  return (
    <DialogTrigger>
      <Button look="danger" aria-label={`Remove ${operator.name}`}>
        Remove
      </Button>
      <ModalDialog title={`Remove ${operator.name}?`}>
        {(close) => (
          <>
            <p>{operator.email} is signed out at once and can not sign in again.</p>
            {remove.error && <Notice tone="bad">{messageOf(remove.error)}</Notice>}
            <div className={controls.actions}>
              <Button onPress={close}>Cancel</Button>
              <Button look="danger" onPress={() => remove.mutate()} isPending={remove.isPending}>
                Remove
              </Button>
            </div>
          </>
        )}
      </ModalDialog>
    </DialogTrigger>
  );
}

function Invitations() {
  const { isOwner } = useMe();
  const say = useSay();
  const now = useNow(60_000);
  const queryClient = useQueryClient();
  const invitations = useQuery(invitationsQuery);
  const revoke = useMutation({
    mutationFn: (id: string) => request("DELETE /invitations/:id", { params: { id } }),
    onSuccess: () => say("The invitation was taken back; its link is of no use now."),
    onSettled: () => queryClient.invalidateQueries(invitationsQuery),
  });
  if (!invitations.data?.length) return null;
  return (
    <Section title="Invitations" lead="Links that were not used yet. Each holds for seven days.">
      {revoke.error && <Notice tone="bad">{messageOf(revoke.error)}</Notice>}
      <ul className={css.rows}>
        {invitations.data.map(({ id, email, role, createdAt }) => (
          <li key={id}>
            <div>
              <div className={css.rowTitle}>
                {email}
                <span className={css.badge}>{role}</span>
              </div>
              <div className={css.rowText}>Invited {ago(createdAt, now)}</div>
            </div>
            {isOwner && (
              <Button
                look="danger"
                aria-label={`Take back the invitation of ${email}`}
                onPress={() => revoke.mutate(id)}
              >
                Take back
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Invite() {
  return (
    <DialogTrigger>
      <Button look="primary">
        <PlusIcon /> Invite
      </Button>
      <ModalDialog title="Invite someone">{(close) => <InviteForm close={close} />}</ModalDialog>
    </DialogTrigger>
  );
}

function InviteForm({ close }: { close: () => void }) {
  const queryClient = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<OperatorRole>("viewer");
  const invite = useMutation({
    mutationFn: () => request("POST /invitations", { body: { email, role } }),
    onSuccess: () => queryClient.invalidateQueries(invitationsQuery),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate();
  };
  if (invite.data) {
    return (
      <>
        <p>
          Send this link to <strong>{invite.data.email}</strong>. It is shown this once, works once, and holds
          for seven days.
        </p>
        <Secret name="Invitation link" value={invite.data.url} />
        <div className={controls.actions}>
          <Button look="primary" onPress={close}>
            Done
          </Button>
        </div>
      </>
    );
  }
  return (
    <Form className={controls.form ?? ""} onSubmit={submit}>
      {invite.error && <Notice tone="bad">{messageOf(invite.error)}</Notice>}
      <TextField label="Email" type="email" value={email} onChange={setEmail} isRequired autoFocus />
      <RadioGroup
        className={controls.field ?? ""}
        value={role}
        onChange={(value) => setRole(value === "owner" ? "owner" : "viewer")}
      >
        <Label className={controls.label ?? ""}>Role</Label>
        <div className={controls.segments}>
          <Radio value="viewer" className={controls.segment ?? ""}>
            Viewer
          </Radio>
          <Radio value="owner" className={controls.segment ?? ""}>
            Owner
          </Radio>
        </div>
      </RadioGroup>
      <div className={controls.actions}>
        <Button onPress={close}>Cancel</Button>
        <Button type="submit" look="primary" isPending={invite.isPending}>
          Make the link
        </Button>
      </div>
    </Form>
  );
}
