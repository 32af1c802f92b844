import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover, Separator } from "react-aria-components";
import { environmentsQuery } from "../admin-client/queries.ts";
import { EnvironmentForm } from "../features/environments/environment-form.tsx";
import { useMe } from "../hooks/use-me.ts";
import { shell as texts } from "../messages/en/shell.ts";
import controls from "../ui/forms/controls.module.css";
import { ModalDialog } from "../ui/forms/controls.tsx";
import { CheckIcon, PlusIcon, UpDownIcon } from "../ui/icons.tsx";
import css from "./shell.module.css";

const NEW = "new";

export function EnvironmentSwitcher({ environmentId }: { environmentId: string | null }) {
  const { data: environments = [] } = useQuery(environmentsQuery);
  const isOwner = useMe().role === "owner";
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  const current = environments.find(({ id }) => id === environmentId);
  if (environments.length === 0) return null;

  const open = (id: string) =>
    navigate({ to: "/environments/$environmentId/videos", params: { environmentId: id } });
  return (
    <>
      <MenuTrigger>
        <AriaButton className={css.switcher ?? ""} aria-label={texts.switchEnvironment(current?.name)}>
          <span>{current?.name ?? texts.chooseEnvironment}</span>
          <UpDownIcon />
        </AriaButton>
        <Popover className={controls.popover ?? ""} placement="bottom start">
          <Menu
            className={controls.menu ?? ""}
            aria-label={texts.environments}
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
      </MenuTrigger>
      <ModalDialog title={texts.newEnvironment} isOpen={isCreating} onOpenChange={setCreating}>
        {(close) => (
          <EnvironmentForm
            onCancel={close}
            onCreated={(environment) => {
              close();
              open(environment.id);
            }}
          />
        )}
      </ModalDialog>
    </>
  );
}
