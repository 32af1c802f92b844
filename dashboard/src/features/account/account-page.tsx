import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { sessionsQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatAgo } from "../../ui/format.ts";
import { NewPasswordField } from "../../ui/forms/account-fields.tsx";
import { Button, ErrorNotice, Form, Notice, TextField } from "../../ui/forms/controls.tsx";
import css from "../../ui/page.module.css";
import { PageHeader, Section } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts.tsx";

export function AccountPage() {
  const { name, email, role } = useMe();
  return (
    <>
      <PageHeader title="Account" description={`${name} · ${email} · ${role}`} />
      <Sessions />
      <Password />
    </>
  );
}

function Sessions() {
  const queryClient = useQueryClient();
  const now = useNow(30_000);
  const sessions = useQuery(sessionsQuery);
  const showToast = useToast();
  const onSettled = () => queryClient.invalidateQueries(sessionsQuery);
  const end = useMutation({
    mutationFn: (id: string) => request("DELETE /auth/sessions/:id", { params: { id } }),
    onSuccess: () => showToast("Session ended."),
    onSettled,
  });
  const endOthers = useMutation({
    mutationFn: () => request("DELETE /auth/sessions"),
    onSuccess: () => showToast("All other sessions ended."),
    onSettled,
  });
  return (
    <Section title="Sessions" description="Devices where you're signed in.">
      <ErrorNotice error={sessions.error ?? end.error ?? endOthers.error} />
      <ul className={css.rows}>
        {sessions.data?.map((session) => (
          <li key={session.id}>
            <div>
              <div className={css.rowTitle}>
                {browserName(session.userAgent)}
                {session.current && <span className={css.badge}>This device</span>}
              </div>
              <div className={css.rowText}>
                {session.ipAddress || "Unknown address"} · signed in {formatAgo(session.createdAt, now)}
              </div>
            </div>
            {!session.current && (
              <Button
                variant="danger"
                aria-label={`End session of ${browserName(session.userAgent)}`}
                onPress={() => end.mutate(session.id)}
              >
                End session
              </Button>
            )}
          </li>
        ))}
      </ul>
      {sessions.data && sessions.data.length > 1 && (
        <div>
          <Button variant="danger" onPress={() => endOthers.mutate()} isPending={endOthers.isPending}>
            End all other sessions
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
  return (
    <Section title="Password" description="Changing your password signs you out on other devices.">
      <Form onSubmit={() => change.mutate()} error={change.error}>
        {change.isSuccess && <Notice tone="good">Password changed.</Notice>}
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

/** The order matters: Edge and Opera also call themselves Chrome, and Chrome also calls itself Safari. */
const BROWSERS: [RegExp, string][] = [
  [/Firefox\//, "Firefox"],
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

function browserName(userAgent: string | null): string {
  const find = (names: [RegExp, string][]) => names.find(([pattern]) => pattern.test(userAgent ?? ""))?.[1];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  return [browser ?? "Unknown browser", system && `on ${system}`].filter(Boolean).join(" ");
}
