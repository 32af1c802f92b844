import { Link, useRouter } from "@tanstack/react-router";
import { messageOf } from "../data/request.ts";
import { Button } from "../design/controls.tsx";
import { PageHeader } from "../parts/page.tsx";

export function NotFoundPage() {
  return (
    <>
      <PageHeader title="Nothing here" lead="This page does not exist, or what it showed was deleted." />
      <p>
        <Link to="/">To the videos</Link>
      </p>
    </>
  );
}

export function FaultPage({ error }: { error: unknown }) {
  const router = useRouter();
  return (
    <div role="alert">
      <PageHeader title="That did not work" lead={messageOf(error)} />
      <Button onPress={() => router.invalidate()}>Try again</Button>
    </div>
  );
}
