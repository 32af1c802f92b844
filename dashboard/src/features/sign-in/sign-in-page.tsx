import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { setupQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { forms } from "../../messages/en/forms.ts";
import { signIn as texts } from "../../messages/en/sign-in.ts";
import controls from "../../ui/forms/controls.module.css";
import { Button, Form, TextField } from "../../ui/forms/controls.tsx";
import { RichText } from "../../ui/rich-text.tsx";
import { serverCommand } from "../../ui/server-command.ts";
import { SignedOutPage } from "../../ui/signed-out-page.tsx";

export function SignInPage() {
  const { next } = useSearch({ from: "/sign-in" });
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const router = useRouter();
  const setup = useQuery(setupQuery);
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

  if (setup.data?.needed) {
    return <SignedOutPage title={texts.welcome} description={texts.notSetUp} />;
  }
  return (
    <SignedOutPage title={texts.signIn}>
      <Form onSubmit={() => signIn.mutate()} error={signIn.error}>
        <TextField
          label={forms.email}
          type="email"
          value={email}
          onChange={setEmail}
          autoComplete="username"
          isRequired
          autoFocus
        />
        <TextField
          label={forms.password}
          type="password"
          value={password}
          onChange={setPassword}
          autoComplete="current-password"
          isRequired
        />
        <Button type="submit" variant="primary" fullWidth isPending={signIn.isPending}>
          {texts.signIn}
        </Button>
      </Form>
      <p className={controls.hint}>
        <RichText parts={texts.forgotPassword(<code>{serverCommand()} operators reset-password</code>)} />
      </p>
    </SignedOutPage>
  );
}
