import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useRef, useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { environmentsQuery } from "../admin-client/queries.ts";
import { shell as texts } from "../messages/en/shell.ts";
import { UpDownIcon } from "../ui/icons.tsx";
import css from "./shell.module.css";

const EnvironmentMenu = lazy(async () => ({
  default: (await import("./environment-menu.tsx")).EnvironmentMenu,
}));

/** The code of the menu is loaded on first use. */
export function EnvironmentSwitcher({ environmentId }: { environmentId: string | null }) {
  const { data: environments = [], isPending } = useQuery(environmentsQuery);
  const button = useRef<HTMLButtonElement>(null);
  const [isUsed, setUsed] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const current = environments.find(({ id }) => id === environmentId);
  // Reserves the space, so that the links below do not move.
  if (isPending) return <div className={css.switcher} />;
  if (environments.length === 0) return null;
  const open = () => {
    setUsed(true);
    setOpen(true);
  };
  return (
    <>
      <AriaButton
        className={css.switcher ?? ""}
        ref={button}
        aria-label={current ? texts.switchEnvironment(current.name) : texts.chooseEnvironment}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPress={open}
        onKeyDown={({ key }) => key === "ArrowDown" && open()}
      >
        <span>{current?.name ?? texts.chooseEnvironment}</span>
        <UpDownIcon />
      </AriaButton>
      {isUsed && (
        <Suspense fallback={null}>
          <EnvironmentMenu
            environments={environments}
            environmentId={environmentId}
            button={button}
            isOpen={isOpen}
            onOpenChange={setOpen}
          />
        </Suspense>
      )}
    </>
  );
}
