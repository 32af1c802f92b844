import { useState } from "react";
import { ui } from "../../messages/en/ui.ts";
import { webhooks as texts } from "../../messages/en/webhooks.ts";
import { CodeBlock } from "../../ui/copy.tsx";
import controls from "../../ui/forms/controls.module.css";
import { Button, SegmentedControl } from "../../ui/forms/controls.tsx";
import { LANGUAGES, type Language, VERIFICATION_CODE } from "./verification-code.ts";

const OPTIONS = LANGUAGES.map((name) => ({ value: name, name }));

export function VerificationDialog({ close }: { close(): void }) {
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
