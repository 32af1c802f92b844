import { useState } from "react";
import { SegmentedControl } from "../ui/forms/controls.tsx";
import { MoonIcon, ScreenIcon, SunIcon } from "../ui/icons.tsx";
import { selectedTheme, selectTheme, type Theme } from "../ui/theme/theme.ts";

const OPTIONS = [
  { value: "system", name: "System", icon: <ScreenIcon /> },
  { value: "light", name: "Light", icon: <SunIcon /> },
  { value: "dark", name: "Dark", icon: <MoonIcon /> },
] as const;

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(selectedTheme);
  const select = (value: Theme) => {
    selectTheme(value);
    setTheme(value);
  };
  return <SegmentedControl label="Theme" hideLabel options={OPTIONS} value={theme} onChange={select} />;
}
