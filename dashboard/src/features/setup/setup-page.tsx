import type { SetupRequest, SetupView } from "@subtext/server/admin/contract/operator";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { useState } from "react";
import { setupQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { environments } from "../../messages/en/environments.ts";
import { forms } from "../../messages/en/forms.ts";
import { setup as texts } from "../../messages/en/setup.ts";
import { formatBytes, formatDecimal } from "../../ui/format.ts";
import { NameField, NewPasswordField } from "../../ui/forms/account-fields.tsx";
import controls from "../../ui/forms/controls.module.css";
import { Button, Form, Switch, TextField } from "../../ui/forms/controls.tsx";
import { Select } from "../../ui/forms/form-fields.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { RichText } from "../../ui/rich-text.tsx";
import { FieldGroup, SignedOutPage } from "../../ui/signed-out-page.tsx";

/** The page that the setup link opens. Until Subtext is set up, the server prints a new link at each start. */
export function SetupPage() {
  const state = useQuery(setupQuery);
  const token = useRouterState({ select: ({ location }) => location.hash });
  if (!state.data) {
    return (
      <SignedOutPage title={texts.title}>
        <LoadState query={state} />
      </SignedOutPage>
    );
  }
  if (!state.data.needed) {
    return (
      <SignedOutPage title={texts.done} description={texts.doneHint}>
        <p>
          <RichText parts={texts.signInOrAsk((label) => <Link to="/sign-in">{label}</Link>)} />
        </p>
      </SignedOutPage>
    );
  }
  if (token === "") {
    return <SignedOutPage title={texts.title} description={texts.openLink} />;
  }
  const { hasEnvironment, engines } = state.data;
  return <SetupForm token={token} needsEnvironment={!hasEnvironment} engines={engines} />;
}

interface SetupFormProps extends Pick<SetupView, "engines"> {
  token: string;
  needsEnvironment: boolean;
}

function SetupForm({ token, needsEnvironment, engines }: SetupFormProps) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [environmentName, setEnvironmentName] = useState(texts.defaultEnvironment);
  const [aiTranscription, setAiTranscription] = useState(true);
  const [engine, setEngine] = useState(engines.find(({ isDefault }) => isDefault)?.name);
  const setup = useMutation({
    mutationFn: () => {
      const body: SetupRequest = {
        token,
        name,
        email,
        password,
        ...(needsEnvironment && { environment: { name: environmentName, aiTranscription } }),
        ...(engine !== undefined && { engine }),
      };
      return request("POST /setup", { body });
    },
    onSuccess: async () => {
      queryClient.clear();
      await navigate({ to: "/", replace: true });
    },
  });
  return (
    <SignedOutPage
      title={texts.title}
      description={needsEnvironment ? texts.createAccountAndEnvironment : texts.createAccount}
    >
      <Form onSubmit={() => setup.mutate()} error={setup.error}>
        <FieldGroup title={texts.yourAccount}>
          <NameField value={name} onChange={setName} />
          <TextField
            label={forms.email}
            type="email"
            value={email}
            onChange={setEmail}
            autoComplete="username"
            isRequired
          />
          <NewPasswordField value={password} onChange={setPassword} />
        </FieldGroup>
        {needsEnvironment && (
          <FieldGroup title={texts.yourEnvironment}>
            <TextField
              label={texts.environmentName}
              hint={environments.purpose}
              value={environmentName}
              onChange={setEnvironmentName}
              isRequired
              maxLength={100}
            />
            <Switch isSelected={aiTranscription} onChange={setAiTranscription}>
              <strong>{texts.aiTranscription}</strong>
              <span className={controls.hint}>{texts.aiTranscriptionHint}</span>
            </Switch>
          </FieldGroup>
        )}
        {engine !== undefined && (
          <FieldGroup title={texts.speechEngine}>
            <Select
              label={texts.engine}
              hint={texts.engineHint}
              options={Object.fromEntries(engines.map((each) => [each.name, describeEngine(each)]))}
              value={engine}
              onChange={setEngine}
            />
          </FieldGroup>
        )}
        <Button type="submit" variant="primary" fullWidth isPending={setup.isPending}>
          {texts.finish}
        </Button>
      </Form>
    </SignedOutPage>
  );
}

/** For example `whisper-small (recommended) – download 252 MB, memory 2.2 GB, about 8 × real time (estimate)`. */
function describeEngine(engine: SetupView["engines"][number]): string {
  const { name, downloadBytes, memoryBytes, estimatedSpeed, isDefault } = engine;
  if (downloadBytes === 0) return texts.bundledEngine;
  const parts = [
    texts.download(formatBytes(downloadBytes)),
    ...(memoryBytes === null ? [] : [texts.memory(formatBytes(memoryBytes))]),
    ...(estimatedSpeed === null ? [] : [texts.estimatedSpeed(formatDecimal(estimatedSpeed))]),
  ];
  return `${isDefault ? texts.recommended(name) : name} – ${parts.join(", ")}`;
}
