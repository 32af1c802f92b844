import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Form } from "react-aria-components";
import { messageOf, request } from "../../admin-client/request.ts";
import { NewPasswordField, OwnNameField } from "../../ui/account-fields.tsx";
import controls from "../../ui/controls.module.css";
import { Button, Notice } from "../../ui/controls.tsx";
import { Entrance } from "../../ui/entrance.tsx";
import { Loading } from "../../ui/page.tsx";

/** Where an invitation's link leads. */
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    join.mutate();
  };

  if (token === "") return <Entrance title="Join Subtext" lead="This invitation link is incomplete." />;
  if (invitation.isPending) return <Loading />;
  if (invitation.error) {
    return (
      <Entrance title="Join Subtext">
        <Notice tone="bad">{messageOf(invitation.error)}</Notice>
      </Entrance>
    );
  }
  const { email, role } = invitation.data;
  return (
    <Entrance
      title="Join Subtext"
      lead={
        <>
          You've been invited as {role === "owner" ? "an owner" : "a viewer"}. You'll sign in with{" "}
          <strong>{email}</strong>.
        </>
      }
    >
      <Form className={controls.form ?? ""} onSubmit={submit}>
        {join.error && <Notice tone="bad">{messageOf(join.error)}</Notice>}
        <OwnNameField value={name} onChange={setName} />
        <NewPasswordField value={password} onChange={setPassword} />
        <Button type="submit" look="primary" wide isPending={join.isPending}>
          Join
        </Button>
      </Form>
    </Entrance>
  );
}
