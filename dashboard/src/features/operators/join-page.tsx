import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../admin-client/request.ts";
import { operators as texts } from "../../messages/en/operators.ts";
import { NameField, NewPasswordField } from "../../ui/forms/account-fields.tsx";
import { Button, Form } from "../../ui/forms/controls.tsx";
import { LoadState } from "../../ui/load-state.tsx";
import { RichText } from "../../ui/rich-text.tsx";
import { SignedOutPage } from "../../ui/signed-out-page.tsx";
import { invitedAs } from "./roles.ts";

/** The page that invitation links open. */
export function JoinPage() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const token = useRouterState({ select: ({ location }) => location.hash });
  const invitation = useQuery({
    queryKey: ["invitation", token],
    queryFn: ({ signal }) => request("POST /join/look-up", { body: { token }, signal }),
    enabled: token !== "",
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const join = useMutation({
    mutationFn: () => {
      return request("POST /join", { body: { token, name, password } });
    },
    onSuccess: async () => {
      queryClient.clear();
      await navigate({ to: "/", replace: true });
    },
  });

  if (token === "") return <SignedOutPage title={texts.joinTitle} description={texts.incompleteLink} />;
  if (!invitation.data) {
    return (
      <SignedOutPage title={texts.joinTitle}>
        <LoadState query={invitation} />
      </SignedOutPage>
    );
  }
  const { email, ...access } = invitation.data;
  return (
    <SignedOutPage
      title={texts.joinTitle}
      description={<RichText parts={texts.joinAs(invitedAs(access), <strong>{email}</strong>)} />}
    >
      <Form onSubmit={() => join.mutate()} error={join.error}>
        <NameField value={name} onChange={setName} />
        <NewPasswordField value={password} onChange={setPassword} />
        <Button type="submit" variant="primary" fullWidth isPending={join.isPending}>
          {texts.join}
        </Button>
      </Form>
    </SignedOutPage>
  );
}
