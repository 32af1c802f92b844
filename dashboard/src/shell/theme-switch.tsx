import { useSyncExternalStore } from "react";
import { shell as texts } from "../messages/en/shell.ts";
import { SegmentedControl } from "../ui/forms/controls.tsx";
import { MoonIcon, ScreenIcon, SunIcon } from "../ui/icons.tsx";
import { onThemeSelected, selectedTheme, selectTheme } from "../ui/theme/theme.ts";

const OPTIONS = [
  { value: "system", name: texts.themes.system, icon: <ScreenIcon /> },
  { value: "light", name: texts.themes.light, icon: <SunIcon /> },
  { value: "dark", name: texts.themes.dark, icon: <MoonIcon /> },
] as const;

export function ThemeSwitch() {
  const theme = useSyncExternalStore(onThemeSelected, selectedTheme);
  return (
    <SegmentedControl label={texts.theme} hideLabel options={OPTIONS} value={theme} onChange={selectTheme} />
  );
}
