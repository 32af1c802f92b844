import type { SetUpRequest } from "@subtext/server/admin/contract/operator";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { setUpQuery } from "../../admin-client/queries.ts";
import { messageOf, request } from "../../admin-client/request.ts";
import { NewPasswordField, OwnNameField } from "../../ui/account-fields.tsx";
import controls from "../../ui/controls.module.css";
import { Button, Notice, Switch, TextField } from "../../ui/controls.tsx";
import { Entrance, Group } from "../../ui/entrance.tsx";
import { Loading } from "../../ui/page.tsx";

/** Where the link leads that the service prints at its first start. */
export function SetUpPage() {
  const state = useQuery(setUpQuery);
  const token = useRouterState({ select: ({ location }) => location.hash });
  if (state.isPending) return <Loading />;
  if (state.error) {
    return (
      <Entrance title="Set up Subtext">
        <Notice tone="bad">{messageOf(state.error)}</Notice>
      </Entrance>
    );
  }
  if (!state.data.needed) {
    return (
      <Entrance title="All set up" lead="Subtext is already set up.">
        <p>
          <Link to="/sign-in">Sign in</Link>, or ask an owner for an invitation.
        </p>
      </Entrance>
    );
  }
  if (token === "") {
    return <Entrance title="Set up Subtext" lead="Open the setup link printed in the server's terminal." />;
  }
  return <SetUpForm token={token} withEnvironment={!state.data.hasEnvironment} />;
}

function SetUpForm({ token, withEnvironment }: { token: string; withEnvironment: boolean }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [environmentName, setEnvironmentName] = useState("Production");
  const [aiTranscription, setAiTranscription] = useState(true);
  const setUp = useMutation({
    mutationFn: () => {
      const body: SetUpRequest = {
        token,
        name,
        email,
        password,
        ...(withEnvironment && { environment: { name: environmentName, aiTranscription } }),
      };
      return request("POST /set-up", { body });
    },
    onSuccess: async () => {
      queryClient.clear();
      await navigate({ to: "/", replace: true });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setUp.mutate();
  };
  return (
    <Entrance
      title="Set up Subtext"
      lead={withEnvironment ? "Create your account and your first environment." : "Create your account."}
    >
      <Form className={controls.form ?? ""} onSubmit={submit}>
        {setUp.error && <Notice tone="bad">{messageOf(setUp.error)}</Notice>}
        <Group name="Your account">
          <OwnNameField value={name} onChange={setName} />
          <TextField
            label="Email"
            type="email"
            value={email}
            onChange={setEmail}
            autoComplete="username"
            isRequired
          />
          <NewPasswordField value={password} onChange={setPassword} />
        </Group>
        {withEnvironment && (
          <Group name="Your first environment">
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
          </Group>
        )}
        <Button type="submit" look="primary" wide isPending={setUp.isPending}>
          Finish setup
        </Button>
      </Form>
    </Entrance>
  );
}
