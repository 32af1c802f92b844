import { useState } from "react";
import { Radio, RadioGroup } from "react-aria-components";
import controls from "../ui/controls.module.css";
import { MoonIcon, ScreenIcon, SunIcon } from "../ui/icons.tsx";
import { chooseTheme, chosenTheme, type Theme } from "../ui/theme.ts";

const CHOICES = [
  { theme: "system", name: "As the system", icon: <ScreenIcon /> },
  { theme: "light", name: "Light", icon: <SunIcon /> },
  { theme: "dark", name: "Dark", icon: <MoonIcon /> },
] as const;

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const choose = (value: string) => {
    const chosen = CHOICES.find((choice) => choice.theme === value)?.theme ?? "system";
    chooseTheme(chosen);
    setTheme(chosen);
  };
  return (
    <RadioGroup
      aria-label="Theme"
      className={controls.segments ?? ""}
      orientation="horizontal"
      value={theme}
      onChange={choose}
    >
      {CHOICES.map((choice) => (
        <Radio
          key={choice.theme}
          value={choice.theme}
          aria-label={choice.name}
          className={controls.segment ?? ""}
        >
          {choice.icon}
        </Radio>
      ))}
    </RadioGroup>
  );
}
