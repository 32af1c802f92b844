import type { SetUpRequest, SetUpView } from "@subtext/server/admin/contract/operator";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { useState } from "react";
import { setupQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { formatBytes } from "../../ui/format.ts";
import { NameField, NewPasswordField } from "../../ui/forms/account-fields.tsx";
import controls from "../../ui/forms/controls.module.css";
import { Button, ErrorNotice, Form, Switch, TextField } from "../../ui/forms/controls.tsx";
import { Select } from "../../ui/forms/form-fields.tsx";
import { Loading } from "../../ui/page.tsx";
import { FieldGroup, SignedOutPage } from "../../ui/signed-out-page.tsx";

/** Opened by the setup link, which the server prints on its first start. */
export function SetupPage() {
  const state = useQuery(setupQuery);
  const token = useRouterState({ select: ({ location }) => location.hash });
  if (state.isPending) return <Loading />;
  if (state.error) {
    return (
      <SignedOutPage title="Set up Subtext">
        <ErrorNotice error={state.error} />
      </SignedOutPage>
    );
  }
  if (!state.data.needed) {
    return (
      <SignedOutPage title="All set up" description="Subtext is already set up.">
        <p>
          <Link to="/sign-in">Sign in</Link>, or ask an owner for an invitation.
        </p>
      </SignedOutPage>
    );
  }
  if (token === "") {
    return (
      <SignedOutPage
        title="Set up Subtext"
        description="Open the setup link printed in the server's terminal."
      />
    );
  }
  const { hasEnvironment, engines } = state.data;
  return <SetupForm token={token} withEnvironment={!hasEnvironment} engines={engines} />;
}

interface SetupFormProps extends Pick<SetUpView, "engines"> {
  token: string;
  withEnvironment: boolean;
}

function SetupForm({ token, withEnvironment, engines }: SetupFormProps) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [environmentName, setEnvironmentName] = useState("Production");
  const [aiTranscription, setAiTranscription] = useState(true);
  const [engine, setEngine] = useState(engines.find(({ isDefault }) => isDefault)?.name);
  const setup = useMutation({
    mutationFn: () => {
      const body: SetUpRequest = {
        token,
        name,
        email,
        password,
        ...(withEnvironment && { environment: { name: environmentName, aiTranscription } }),
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
      title="Set up Subtext"
      description={
        withEnvironment ? "Create your account and your first environment." : "Create your account."
      }
    >
      <Form onSubmit={() => setup.mutate()} error={setup.error}>
        <FieldGroup title="Your account">
          <NameField value={name} onChange={setName} />
          <TextField
            label="Email"
            type="email"
            value={email}
            onChange={setEmail}
            autoComplete="username"
            isRequired
          />
          <NewPasswordField value={password} onChange={setPassword} />
        </FieldGroup>
        {withEnvironment && (
          <FieldGroup title="Your first environment">
            <TextField
              label="Environment name"
              hint="Each environment has its own videos, API keys and webhooks."
              value={environmentName}
              onChange={setEnvironmentName}
              isRequired
              maxLength={100}
            />
            <Switch isSelected={aiTranscription} onChange={setAiTranscription}>
              <strong>AI Transcription</strong>
              <span className={controls.hint}>
                New uploads are transcribed automatically. You can turn this off at any time.
              </span>
            </Switch>
          </FieldGroup>
        )}
        {engine !== undefined && (
          <FieldGroup title="Speech engine">
            <Select
              label="Engine"
              hint="Whisper models know 99 languages. Until one is downloaded, only English is transcribed. For your own transcription server, set SPEECH_SERVERS."
              options={Object.fromEntries(engines.map((each) => [each.name, describeEngine(each)]))}
              value={engine}
              onChange={setEngine}
            />
          </FieldGroup>
        )}
        <Button type="submit" variant="primary" fullWidth isPending={setup.isPending}>
          Finish setup
        </Button>
      </Form>
    </SignedOutPage>
  );
}

/** Returns e.g. `whisper-small – 252 MB`. */
function describeEngine({ name, downloadBytes }: SetUpView["engines"][number]): string {
  if (downloadBytes === 0) return "Bundled – English only";
  return `${name} – ${formatBytes(downloadBytes)}`;
}
