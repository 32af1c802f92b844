import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { sessionsQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { useMe } from "../../hooks/use-me.ts";
import { useNow } from "../../hooks/use-now.ts";
import { account as texts } from "../../messages/en/account.ts";
import { formatAgo } from "../../ui/format.ts";
import { NewPasswordField } from "../../ui/forms/account-fields.tsx";
import { Button, ErrorNotice, Form, Notice, TextField } from "../../ui/forms/controls.tsx";
import { Select } from "../../ui/forms/form-fields.tsx";
import { selectedLanguage, selectLanguage } from "../../ui/language.ts";
import { LoadState } from "../../ui/load-state.tsx";
import css from "../../ui/page.module.css";
import { PageHeader, Section } from "../../ui/page.tsx";
import { useToast } from "../../ui/toasts/toasts.tsx";
import { browserName } from "./browser-name.ts";

export function AccountPage() {
  const { name, email, role } = useMe();
  return (
    <>
      <PageHeader
        title={texts.title}
        description={[name, email, role && texts.roles[role]].filter(Boolean).join(" · ")}
      />
      <Sessions />
      <Password />
      <LanguageChoice />
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
    onSuccess: () => showToast(texts.sessionEnded),
    onSettled,
  });
  const endOthers = useMutation({
    mutationFn: () => request("DELETE /auth/sessions"),
    onSuccess: () => showToast(texts.otherSessionsEnded),
    onSettled,
  });
  const latest = end.submittedAt > endOthers.submittedAt ? end : endOthers;
  return (
    <Section title={texts.sessions} description={texts.sessionsHint}>
      <ErrorNotice error={latest.error} />
      <LoadState query={sessions} />
      <ul className={css.rows}>
        {sessions.data?.map((session) => (
          <li key={session.id}>
            <div>
              <div className={css.rowTitle}>
                {browserName(session.userAgent)}
                {session.current && <span className={css.badge}>{texts.thisDevice}</span>}
              </div>
              <div className={css.rowText}>
                {session.ipAddress || texts.unknownAddress} ·{" "}
                {texts.signedIn(formatAgo(session.createdAt, now))}
              </div>
            </div>
            {!session.current && (
              <Button
                variant="danger"
                aria-label={texts.endSessionOf(browserName(session.userAgent))}
                isPending={end.isPending && end.variables === session.id}
                onPress={() => end.mutate(session.id)}
              >
                {texts.endSession}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {sessions.data && sessions.data.length > 1 && (
        <div>
          <Button variant="danger" onPress={() => endOthers.mutate()} isPending={endOthers.isPending}>
            {texts.endOtherSessions}
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
    <Section title={texts.password} description={texts.passwordEffect}>
      <Form onSubmit={() => change.mutate()} error={change.error}>
        {change.isSuccess && <Notice tone="good">{texts.passwordChanged}</Notice>}
        <TextField
          label={texts.currentPassword}
          type="password"
          autoComplete="current-password"
          value={currentPassword}
          onChange={setCurrentPassword}
          isRequired
        />
        <NewPasswordField label={texts.newPassword} value={newPassword} onChange={setNewPassword} />
        <div>
          <Button type="submit" isPending={change.isPending}>
            {texts.changePassword}
          </Button>
        </div>
      </Form>
    </Section>
  );
}

function LanguageChoice() {
  return (
    <Section title={texts.language} description={texts.languageHint}>
      <Select
        label={texts.language}
        options={{ browser: texts.browserLanguage, en: "English", de: "Deutsch" }}
        value={selectedLanguage()}
        onChange={(language) => {
          selectLanguage(language);
          location.reload();
        }}
      />
    </Section>
  );
}
