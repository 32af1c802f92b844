import type { OperatorAccess, OperatorRole } from "@subtext/server/db/enums";
import { useQuery } from "@tanstack/react-query";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { operators as texts } from "../../messages/en/operators.ts";
import { SegmentedControl } from "../../ui/forms/controls.tsx";
import { Select } from "../../ui/forms/form-fields.tsx";

export interface AccessChoice {
  /** Switching the mode keeps the choices made in the other mode. */
  mode: "all" | "some";
  /** Role in all environments. */
  role: OperatorRole;
  /** Roles in some environments, keyed by environment ID. */
  roles: Record<string, OperatorRole>;
}

export function toAccessChoice({ role, environments }: OperatorAccess): AccessChoice {
  return {
    mode: role === null ? "some" : "all",
    role: role ?? "viewer",
    roles: Object.fromEntries(environments.map(({ id, role }) => [id, role])),
  };
}

/** Returns the request body, with environments in a fixed order so that it can be compared; null if none is chosen. */
export function toAccessRequest({ mode, role, roles }: AccessChoice) {
  if (mode === "all") return { role };
  const environments = Object.entries(roles)
    .map(([environment, role]) => ({ environment, role }))
    .sort((a, b) => (a.environment < b.environment ? -1 : 1));
  return environments.length > 0 ? { environments } : null;
}

const MODES = [
  { value: "all", name: texts.modes.all },
  { value: "some", name: texts.modes.some },
] as const;
const ROLES = (Object.keys(texts.roles) as OperatorRole[]).map((value) => ({
  value,
  name: texts.roles[value],
}));
const NO_ACCESS = "none";

export function AccessFields({
  choice,
  onChange,
}: {
  choice: AccessChoice;
  onChange(choice: AccessChoice): void;
}) {
  const { data: environments = [] } = useQuery(environmentsQuery);
  return (
    <>
      <SegmentedControl
        label={texts.environments}
        options={MODES}
        value={choice.mode}
        onChange={(mode) => onChange({ ...choice, mode })}
      />
      {choice.mode === "all" ? (
        <SegmentedControl
          label={texts.role}
          options={ROLES}
          value={choice.role}
          onChange={(role) => onChange({ ...choice, role })}
        />
      ) : (
        environments.map(({ id, name }) => (
          <Select
            key={id}
            label={texts.roleInLabel(name)}
            options={{ [NO_ACCESS]: texts.noAccess, ...texts.roles }}
            value={choice.roles[id] ?? NO_ACCESS}
            onChange={(role) => {
              const { [id]: _previous, ...others } = choice.roles;
              onChange({ ...choice, roles: role === NO_ACCESS ? others : { ...others, [id]: role } });
            }}
          />
        ))
      )}
    </>
  );
}
