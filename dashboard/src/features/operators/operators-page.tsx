import type { OperatorView } from "@subtext/server/admin/contract/operator";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { invitationsQuery, operatorsQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { useOpenHash } from "../../hooks/use-open-hash.ts";
import { forms } from "../../messages/en/forms.ts";
import { operators as texts } from "../../messages/en/operators.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Secret } from "../../ui/copy.tsx";
import { formatAgo } from "../../ui/format.ts";
import controls from "../../ui/forms/controls.module.css";
import { Button, ErrorNotice, Form, FormActions, TextField } from "../../ui/forms/controls.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import css from "../../ui/page.module.css";
import { PageHeader, Section } from "../../ui/page.tsx";
import { RichText } from "../../ui/rich-text.tsx";
import { useToast } from "../../ui/toasts/toasts.tsx";
import { useUndo } from "../../ui/toasts/undo.ts";
import { AccessFields, toAccessChoice, toAccessRequest } from "./access-fields.tsx";
import { roleText } from "./roles.ts";

export function OperatorsPage() {
  const me = useMe();
  const isOwner = me.role === "owner";
  const operators = useQuery(operatorsQuery);
  return (
    <>
      <PageHeader title={texts.title} description={texts.description}>
        {isOwner && <Invite />}
      </PageHeader>
      <Section title={texts.people}>
        <LoadState query={operators} />
        <ul className={css.rows}>
          {operators.data?.map((operator) => (
            <li key={operator.id}>
              <div>
                <div className={css.rowTitle}>
                  {operator.name}
                  <span className={css.badge}>{roleText(operator)}</span>
                </div>
                <div className={css.rowText}>{operator.email}</div>
              </div>
              {isOwner && operator.id !== me.id && (
                <div className={css.rowActions}>
                  <ChangeRole operator={operator} />
                  <RemoveOperator operator={operator} />
                </div>
              )}
            </li>
          ))}
        </ul>
      </Section>
      {/* Rendered after the list above has loaded, which would otherwise push it down. */}
      {!operators.isPending && <Invitations />}
    </>
  );
}

function ChangeRole({ operator }: { operator: OperatorView }) {
  return (
    <DialogTrigger>
      <Button aria-label={texts.changeRoleOf(operator.name)}>{texts.changeRole}</Button>
      <ModalDialog title={texts.roleOf(operator.name)}>
        {(close) => <RoleForm operator={operator} close={close} />}
      </ModalDialog>
    </DialogTrigger>
  );
}

function RoleForm({ operator, close }: { operator: OperatorView; close: () => void }) {
  const queryClient = useQueryClient();
  const offerUndo = useUndo();
  const [choice, setChoice] = useState(() => toAccessChoice(operator));
  const body = toAccessRequest(choice);
  const params = { id: operator.id };
  const accessOf = (view: OperatorView | undefined) => view && toAccessRequest(toAccessChoice(view));
  const save = async (access: ReturnType<typeof accessOf>) => {
    const changed = await request("PATCH /operators/:id", { params, body: access ?? {} });
    await queryClient.invalidateQueries(operatorsQuery);
    return changed;
  };
  const change = useMutation({
    mutationFn: () => save(body),
    onSuccess(changed) {
      offerUndo(texts.roleChanged(operator.name), {
        previous: accessOf(operator),
        saved: accessOf(changed),
        read: async () =>
          accessOf((await request("GET /operators")).data.find(({ id }) => id === operator.id)),
        restore: save,
      });
      close();
    },
  });
  return (
    <Form onSubmit={() => change.mutate()} error={change.error}>
      <AccessFields choice={choice} onChange={setChoice} />
      <FormActions
        submitLabel={forms.save}
        isPending={change.isPending}
        isDisabled={body === null}
        onCancel={close}
      />
    </Form>
  );
}

function RemoveOperator({ operator: { id, name, email } }: { operator: OperatorView }) {
  const showToast = useToast();
  const queryClient = useQueryClient();
  return (
    <Confirm
      label={texts.remove}
      accessibleName={texts.removeName(name)}
      title={texts.removeQuestion(name)}
      action={async () => {
        await request("DELETE /operators/:id", { params: { id } });
        showToast(texts.removed(name));
        await queryClient.invalidateQueries(operatorsQuery);
      }}
    >
      {texts.removeEffect(email)}
    </Confirm>
  );
}

function Invitations() {
  const isOwner = useMe().role === "owner";
  const showToast = useToast();
  const now = useNow(60_000);
  const queryClient = useQueryClient();
  const invitations = useQuery(invitationsQuery);
  const revoke = useMutation({
    mutationFn: (id: string) => request("DELETE /invitations/:id", { params: { id } }),
    onSuccess: () => showToast(texts.revoked),
    onSettled: () => queryClient.invalidateQueries(invitationsQuery),
  });
  const isEmpty = !invitations.data?.length && !invitations.error;
  // Keep the section while a failed request is retried.
  if (isEmpty && (invitations.data || invitations.errorUpdateCount === 0)) return null;
  return (
    <Section title={texts.invitations} description={texts.invitationsHint}>
      <ErrorNotice error={revoke.error} />
      <LoadState query={invitations} />
      <ul className={css.rows}>
        {invitations.data?.map(({ id, email, createdAt, ...access }) => (
          <li key={id}>
            <div>
              <div className={css.rowTitle}>
                {email}
                <span className={css.badge}>{roleText(access)}</span>
              </div>
              <div className={css.rowText}>{texts.invited(formatAgo(createdAt, now))}</div>
            </div>
            {isOwner && (
              <Button variant="danger" aria-label={texts.revokeOf(email)} onPress={() => revoke.mutate(id)}>
                {texts.revoke}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Invite() {
  const [isOpen, setOpen] = useState(false);
  useOpenHash(setOpen);
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button variant="primary">
        <PlusIcon /> {texts.invite}
      </Button>
      <ModalDialog title={texts.inviteSomeone}>{(close) => <InviteForm close={close} />}</ModalDialog>
    </DialogTrigger>
  );
}

function InviteForm({ close }: { close: () => void }) {
  const queryClient = useQueryClient();
  const [email, setEmail] = useState("");
  const [choice, setChoice] = useState(() => toAccessChoice({ role: "viewer", environments: [] }));
  const access = toAccessRequest(choice);
  const invite = useMutation({
    mutationFn: () => request("POST /invitations", { body: { email, ...access } }),
    onSuccess: () => queryClient.invalidateQueries(invitationsQuery),
  });
  if (invite.data) {
    return (
      <>
        <p>
          <RichText parts={texts.sendLink(<strong>{invite.data.email}</strong>)} />
        </p>
        <Secret label={texts.invitationLink} value={invite.data.url} />
        <div className={controls.actions}>
          <Button variant="primary" onPress={close}>
            {texts.done}
          </Button>
        </div>
      </>
    );
  }
  return (
    <Form onSubmit={() => invite.mutate()} error={invite.error}>
      <TextField label={forms.email} type="email" value={email} onChange={setEmail} isRequired autoFocus />
      <AccessFields choice={choice} onChange={setChoice} />
      <FormActions
        submitLabel={texts.createLink}
        isPending={invite.isPending}
        isDisabled={access === null}
        onCancel={close}
      />
    </Form>
  );
}
