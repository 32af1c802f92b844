import type { WebhookEndpointView } from "@subtext/server/admin/contract/webhook";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { request } from "../../admin-client/request.ts";
import { ui } from "../../messages/en/ui.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { CodeBlock, Secret } from "../../ui/copy.tsx";
import { formatDateTime } from "../../ui/format.ts";
import controls from "../../ui/forms/controls.module.css";
import { Button, ErrorNotice, Notice, SegmentedControl } from "../../ui/forms/controls.tsx";
import { ModalDialog } from "../../ui/forms/modal-dialog.tsx";
import { Section } from "../../ui/page.tsx";
import table from "../../ui/table.module.css";
import { endpointKey } from "./queries.ts";
import { LANGUAGES, type Language, VERIFICATION_CODE } from "./verification-code.ts";
import css from "./webhooks.module.css";

export function SigningSecret({ endpoint, isOwner }: { endpoint: WebhookEndpointView; isOwner: boolean }) {
  const queryClient = useQueryClient();
  const params = { id: endpoint.id };
  const reveal = useMutation({
    mutationFn: () => request("POST /webhook-endpoints/:id/reveal-secret", { params }),
    gcTime: 0,
  });
  const rotate = useMutation({
    mutationFn: () => request("POST /webhook-endpoints/:id/rotate-secret", { params }),
    // Not awaited: the page must show the new secret before the refetched endpoint announces the rotation.
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: endpointKey(endpoint.id) }),
    gcTime: 0,
  });
  const shown = rotate.data?.secret ?? reveal.data?.secret;
  return (
    <Section title={texts.signingSecret} description={texts.signingSecretHint}>
      {shown === undefined && <ErrorNotice error={reveal.error} />}
      {endpoint.previousSecretExpiresAt && (
        <Notice tone="plain">{texts.signedWithBoth(formatDateTime(endpoint.previousSecretExpiresAt))}</Notice>
      )}
      {shown !== undefined && <Secret key={shown} label={texts.signingSecret} value={shown} />}
      <div className={css.buttons}>
        {isOwner && shown === undefined && (
          <Button onPress={() => reveal.mutate()} isPending={reveal.isPending}>
            {texts.showSecret}
          </Button>
        )}
        {isOwner && (
          <Confirm
            label={texts.rotate}
            accessibleName={texts.rotateSecret}
            title={texts.rotateQuestion}
            action={() => rotate.mutateAsync()}
          >
            {texts.rotateEffect}
            {endpoint.previousSecretExpiresAt && ` ${texts.previousStops}`}
          </Confirm>
        )}
        <DialogTrigger>
          <Button>{texts.codeSamples}</Button>
          <ModalDialog title={texts.verifyTitle}>
            {(close) => <VerificationDialog close={close} />}
          </ModalDialog>
        </DialogTrigger>
      </div>
      {!isOwner && <p className={table.soft}>{texts.secretOwnersOnly}</p>}
    </Section>
  );
}

const OPTIONS = LANGUAGES.map((name) => ({ value: name, name }));

function VerificationDialog({ close }: { close(): void }) {
  const [language, setLanguage] = useState<Language>("Node");
  const { install, withPackage, standardLibrary } = VERIFICATION_CODE[language];
  return (
    <>
      <SegmentedControl
        label={texts.programmingLanguage}
        options={OPTIONS}
        value={language}
        onChange={setLanguage}
      />
      <CodeBlock
        key={`${language} package`}
        label={texts.withPackage(install)}
        text={withPackage}
        keepLines
      />
      <CodeBlock key={`${language} alone`} label={texts.standardLibrary} text={standardLibrary} keepLines />
      <div className={controls.actions}>
        <Button onPress={close}>{ui.close}</Button>
      </div>
    </>
  );
}
