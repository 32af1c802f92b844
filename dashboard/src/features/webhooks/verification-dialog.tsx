import { useState } from "react";
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
      <SegmentedControl label="Language" options={OPTIONS} value={language} onChange={setLanguage} />
      <CodeBlock
        key={`${language} package`}
        label={`With the package standardwebhooks (${install})`}
        text={withPackage}
        keepLines
      />
      <CodeBlock key={`${language} alone`} label="Standard library only" text={standardLibrary} keepLines />
      <div className={controls.actions}>
        <Button onPress={close}>Close</Button>
      </div>
    </>
  );
}
