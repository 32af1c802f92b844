import { useState } from "react";
import { Label, Radio, RadioGroup } from "react-aria-components";
import { Code } from "../../ui/code.tsx";
import controls from "../../ui/controls.module.css";
import { Button } from "../../ui/controls.tsx";
import { LANGUAGES, type Language, VERIFY_CODE } from "./verification-code.ts";

export function VerifyCode({ close }: { close(): void }) {
  const [language, setLanguage] = useState<Language>("Node");
  const { install, withPackage, alone } = VERIFY_CODE[language];
  return (
    <>
      <RadioGroup
        className={controls.field ?? ""}
        value={language}
        onChange={(value) => setLanguage(LANGUAGES.find((each) => each === value) ?? "Node")}
      >
        <Label className={controls.label ?? ""}>Language</Label>
        <div className={controls.segments}>
          {LANGUAGES.map((each) => (
            <Radio key={each} value={each} className={controls.segment ?? ""}>
              {each}
            </Radio>
          ))}
        </div>
      </RadioGroup>
      <Code
        key={`${language} package`}
        name={`With the package standardwebhooks (${install})`}
        text={withPackage}
        isProgram
      />
      <Code key={`${language} alone`} name="Standard library only" text={alone} isProgram />
      <div className={controls.actions}>
        <Button onPress={close}>Close</Button>
      </div>
    </>
  );
}
