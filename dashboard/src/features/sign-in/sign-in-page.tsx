import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { setUpQuery } from "../../admin-client/queries.ts";
import { messageOf, request } from "../../admin-client/request.ts";
import controls from "../../ui/controls.module.css";
import { Button, Notice, TextField } from "../../ui/controls.tsx";
import { Entrance } from "../../ui/entrance.tsx";

export function SignInPage() {
  const { next } = useSearch({ from: "/sign-in" });
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const setUp = useQuery(setUpQuery);
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const signIn = useMutation({
    mutationFn: () => request("POST /auth/sign-in/email", { body: { email: email.trim(), password } }),
    onSuccess: async () => {
      queryClient.clear();
      if (next === undefined) await navigate({ to: "/", replace: true });
      else router.history.replace(next);
    },
    onError: () => setPassword(""),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };

  if (setUp.data?.needed) {
    return (
      <Entrance
        title="Welcome to Subtext"
        lead="Subtext is not set up yet. Open the setup link printed in the server's terminal."
      />
    );
  }
  return (
    <Entrance title="Sign in">
      <Form className={controls.form ?? ""} onSubmit={submit}>
        {signIn.error && <Notice tone="bad">{messageOf(signIn.error)}</Notice>}
        <TextField
          label="Email"
          type="email"
          value={email}
          onChange={setEmail}
          autoComplete="username"
          isRequired
          autoFocus
        />
        <TextField
          label="Password"
          type="password"
          value={password}
          onChange={setPassword}
          autoComplete="current-password"
          isRequired
        />
        <Button type="submit" look="primary" wide isPending={signIn.isPending}>
          Sign in
        </Button>
      </Form>
      <p className={controls.hint}>
        Forgot your password? Run <code>npx subtext operator reset-password</code> on the server.
      </p>
    </Entrance>
  );
}
