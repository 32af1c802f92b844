import type { OperatorView } from "@subtext/server/admin/contract/operator";
import type { OperatorRole } from "@subtext/server/db/enums";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { invitationsQuery, operatorsQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Secret } from "../../ui/copy.tsx";
import { formatAgo } from "../../ui/format.ts";
import controls from "../../ui/forms/controls.module.css";
import {
  Button,
  ErrorNotice,
  Form,
  ModalDialog,
  SegmentedControl,
  TextField,
} from "../../ui/forms/controls.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import css from "../../ui/page.module.css";
import { PageHeader, Section } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts.tsx";

export function OperatorsPage() {
  const me = useMe();
  const operators = useQuery(operatorsQuery);
  return (
    <>
      <PageHeader title="Operators" description="Owners have full access. Viewers are read-only.">
        {me.isOwner && <Invite />}
      </PageHeader>
      <Section title="People">
        <ErrorNotice error={operators.error} />
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
              {me.isOwner && operator.id !== me.id && <RemoveOperator operator={operator} />}
            </li>
          ))}
        </ul>
      </Section>
      <Invitations />
    </>
  );
}

function RemoveOperator({ operator: { id, name, email } }: { operator: OperatorView }) {
  const showToast = useToast();
  const queryClient = useQueryClient();
  return (
    <Confirm
      label="Remove"
      accessibleName={`Remove ${name}`}
      title={`Remove ${name}?`}
      action={async () => {
        await request("DELETE /operators/:id", { params: { id } });
        showToast(`${name} was removed.`);
        await queryClient.invalidateQueries(operatorsQuery);
      }}
    >
      {email} is signed out immediately and can't sign in again.
    </Confirm>
  );
}

function Invitations() {
  const { isOwner } = useMe();
  const showToast = useToast();
  const now = useNow(60_000);
  const queryClient = useQueryClient();
  const invitations = useQuery(invitationsQuery);
  const revoke = useMutation({
    mutationFn: (id: string) => request("DELETE /invitations/:id", { params: { id } }),
    onSuccess: () => showToast("Invitation revoked."),
    onSettled: () => queryClient.invalidateQueries(invitationsQuery),
  });
  if (!invitations.data?.length) return null;
  return (
    <Section title="Invitations" description="Pending invitations expire after 7 days.">
      <ErrorNotice error={revoke.error} />
      <ul className={css.rows}>
        {invitations.data.map(({ id, email, role, createdAt }) => (
          <li key={id}>
            <div>
              <div className={css.rowTitle}>
                {email}
                <span className={css.badge}>{role}</span>
              </div>
              <div className={css.rowText}>Invited {formatAgo(createdAt, now)}</div>
            </div>
            {isOwner && (
              <Button
                variant="danger"
                aria-label={`Revoke invitation of ${email}`}
                onPress={() => revoke.mutate(id)}
              >
                Revoke
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
      <Button variant="primary">
        <PlusIcon /> Invite
      </Button>
      <ModalDialog title="Invite someone">{(close) => <InviteForm close={close} />}</ModalDialog>
    </DialogTrigger>
  );
}

const ROLES = [
  { value: "viewer", name: "Viewer" },
  { value: "editor", name: "Editor" },
  { value: "owner", name: "Owner" },
] as const;

function InviteForm({ close }: { close: () => void }) {
  const queryClient = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<OperatorRole>("viewer");
  const invite = useMutation({
    mutationFn: () => request("POST /invitations", { body: { email, role } }),
    onSuccess: () => queryClient.invalidateQueries(invitationsQuery),
  });
  if (invite.data) {
    return (
      <>
        <p>
          Send this link to <strong>{invite.data.email}</strong>. Single use, shown once, expires in 7 days.
        </p>
        <Secret label="Invitation link" value={invite.data.url} />
        <div className={controls.actions}>
          <Button variant="primary" onPress={close}>
            Done
          </Button>
        </div>
      </>
    );
  }
  return (
    <Form onSubmit={() => invite.mutate()} error={invite.error}>
      <TextField label="Email" type="email" value={email} onChange={setEmail} isRequired autoFocus />
      <SegmentedControl label="Role" options={ROLES} value={role} onChange={setRole} />
      <div className={controls.actions}>
        <Button onPress={close}>Cancel</Button>
        <Button type="submit" variant="primary" isPending={invite.isPending}>
          Create invite link
        </Button>
      </div>
    </Form>
  );
}
