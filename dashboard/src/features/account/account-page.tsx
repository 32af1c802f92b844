import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { sessionsQuery } from "../../admin-client/queries.ts";
import { messageOf, request } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { NewPasswordField } from "../../ui/account-fields.tsx";
import controls from "../../ui/controls.module.css";
import { Button, Notice, TextField } from "../../ui/controls.tsx";
import { ago } from "../../ui/format.ts";
import css from "../../ui/page.module.css";
import { PageHeader, Section } from "../../ui/page.tsx";
import { useSay } from "../../ui/toasts.tsx";
import { browserOf } from "./browser-name.ts";

export function AccountPage() {
  const { name, email, role } = useMe();
  return (
    <>
      <PageHeader title="Account" lead={`${name} · ${email} · ${role}`} />
      <Sessions />
      <Password />
    </>
  );
}

function Sessions() {
  const queryClient = useQueryClient();
  const now = useNow(30_000);
  const sessions = useQuery(sessionsQuery);
  const say = useSay();
  const settled = () => queryClient.invalidateQueries(sessionsQuery);
  const revoke = useMutation({
    mutationFn: (id: string) => request("DELETE /auth/sessions/:id", { params: { id } }),
    onSuccess: () => say("The session has ended."),
    onSettled: settled,
  });
  const revokeOthers = useMutation({
    mutationFn: () => request("DELETE /auth/sessions"),
    onSuccess: () => say("All other sessions have ended."),
    onSettled: settled,
  });
  const error = sessions.error ?? revoke.error ?? revokeOthers.error;
  return (
    <Section
      title="Sessions"
      lead="Where you are signed in. A session that is ended can do nothing more at once."
    >
      {error && <Notice tone="bad">{messageOf(error)}</Notice>}
      <ul className={css.rows}>
        {sessions.data?.map((session) => (
          <li key={session.id}>
            <div>
              <div className={css.rowTitle}>
                {browserOf(session.userAgent)}
                {session.current && <span className={css.badge}>this one</span>}
              </div>
              <div className={css.rowText}>
                {session.ipAddress || "Unknown address"} · signed in {ago(session.createdAt, now)}
              </div>
            </div>
            {!session.current && (
              <Button
                look="danger"
                aria-label={`End the session of ${browserOf(session.userAgent)}`}
                onPress={() => revoke.mutate(session.id)}
              >
                End
              </Button>
            )}
          </li>
        ))}
      </ul>
      {sessions.data && sessions.data.length > 1 && (
        <div>
          <Button look="danger" onPress={() => revokeOthers.mutate()} isPending={revokeOthers.isPending}>
            End all others
          </Button>
        </div>
      )}
    </Section>
  );
}

function Password() {
  const [currentPassword, setCurrentPassword] = useState("");
  const [newPassword, setNewPassword] = useState("");
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: () =>
      request("POST /auth/change-password", {
        body: { currentPassword, newPassword, revokeOtherSessions: true },
      }),
    onSuccess: () => {
      setCurrentPassword("");
      setNewPassword("");
      return queryClient.invalidateQueries(sessionsQuery);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Section title="Password" lead="Changing it ends every other session.">
      <Form className={controls.form ?? ""} onSubmit={submit}>
        {change.error && <Notice tone="bad">{messageOf(change.error)}</Notice>}
        {change.isSuccess && <Notice tone="good">The password was changed.</Notice>}
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          value={currentPassword}
          onChange={setCurrentPassword}
          isRequired
        />
        <NewPasswordField label="New password" value={newPassword} onChange={setNewPassword} />
        <div>
          <Button type="submit" isPending={change.isPending}>
            Change password
          </Button>
        </div>
      </Form>
    </Section>
  );
}
