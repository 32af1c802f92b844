import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { useState } from "react";
import { request } from "../../admin-client/request.ts";
import { NameField, NewPasswordField } from "../../ui/forms/account-fields.tsx";
import { Button, ErrorNotice, Form } from "../../ui/forms/controls.tsx";
import { Loading } from "../../ui/page.tsx";
import { SignedOutPage } from "../../ui/signed-out-page.tsx";
import { invitedAs } from "./roles.ts";

/** Opened by invitation links. */
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

  if (token === "")
    return <SignedOutPage title="Join Subtext" description="This invitation link is incomplete." />;
  if (invitation.isPending) return <Loading />;
  if (invitation.error) {
    return (
      <SignedOutPage title="Join Subtext">
        <ErrorNotice error={invitation.error} />
      </SignedOutPage>
    );
  }
  const { email, ...access } = invitation.data;
  return (
    <SignedOutPage
      title="Join Subtext"
      description={
        <>
          You've been invited as {invitedAs(access)}. You'll sign in with <strong>{email}</strong>.
        </>
      }
    >
      <Form onSubmit={() => join.mutate()} error={join.error}>
        <NameField value={name} onChange={setName} />
        <NewPasswordField value={password} onChange={setPassword} />
        <Button type="submit" variant="primary" fullWidth isPending={join.isPending}>
          Join
        </Button>
      </Form>
    </SignedOutPage>
  );
}
