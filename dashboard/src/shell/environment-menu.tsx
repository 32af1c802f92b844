import type { EnvironmentSummaryView } from "@subtext/server/admin/contract/environment";
import { useNavigate } from "@tanstack/react-router";
import { type RefObject, useState } from "react";
import { Menu, MenuItem, Popover, Separator } from "react-aria-components";
import { useMe } from "../hooks/use-me.ts";
import { shell as texts } from "../messages/en/shell.ts";
import controls from "../ui/forms/controls.module.css";
import { CheckIcon, PlusIcon } from "../ui/icons.tsx";
import { NewEnvironmentDialog } from "./new-environment-dialog.tsx";

const NEW = "new";

export function EnvironmentMenu({
  environments,
  environmentId,
  button,
  isOpen,
  onOpenChange,
}: {
  environments: readonly EnvironmentSummaryView[];
  environmentId: string | null;
  button: RefObject<HTMLButtonElement | null>;
  isOpen: boolean;
  onOpenChange(isOpen: boolean): void;
}) {
  const isOwner = useMe().role === "owner";
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const open = (id: string) =>
    navigate({ to: "/environments/$environmentId/videos", params: { environmentId: id } });
  return (
    <>
      <Popover
        className={controls.popover ?? ""}
        placement="bottom start"
        triggerRef={button}
        isOpen={isOpen}
        onOpenChange={onOpenChange}
      >
        <Menu
          className={controls.menu ?? ""}
          aria-label={texts.environments}
          autoFocus="first"
          onClose={() => onOpenChange(false)}
          onAction={(key) => (key === NEW ? setCreating(true) : open(String(key)))}
        >
          {environments.map(({ id, name }) => (
            <MenuItem key={id} id={id} textValue={name} className={controls.item ?? ""}>
              {name}
              {id === environmentId && <CheckIcon />}
            </MenuItem>
          ))}
          {isOwner && <Separator className={controls.separator ?? ""} />}
          {isOwner && (
            <MenuItem id={NEW} textValue={texts.newEnvironment} className={controls.item ?? ""}>
              <PlusIcon /> {texts.newEnvironment}
            </MenuItem>
          )}
        </Menu>
      </Popover>
      <NewEnvironmentDialog isOpen={isCreating} onOpenChange={setCreating} />
    </>
  );
}
