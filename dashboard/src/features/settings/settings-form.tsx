import type { EnvironmentView } from "@subtext/server/admin/contract/environment";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { environmentsQuery } from "../../admin-client/queries.ts";
import { request } from "../../admin-client/request.ts";
import { forms } from "../../messages/en/forms.ts";
import { settings as texts } from "../../messages/en/settings.ts";
import controls from "../../ui/forms/controls.module.css";
import { Button } from "../../ui/forms/controls.tsx";
import { useUndo } from "../../ui/toasts/undo.ts";
import css from "./settings-form.module.css";

type EnvironmentChange = Partial<
  Pick<EnvironmentView, "aiTranscription" | "allowedOrigins" | "retention" | "weight" | "vocabulary">
>;

export function useChangeEnvironment({ id }: EnvironmentView) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (body: EnvironmentChange) => {
      const changed = await request("PATCH /environments/:environment", {
        params: { environment: id },
        body,
      });
      queryClient.setQueryData(environmentsQuery.queryKey, (environments) =>
        environments?.map((environment) => (environment.id === id ? changed : environment)),
      );
      return changed;
    },
  });
}

/**
 * Saves settings and offers to undo the change.
 * @param onUndone puts the previous values into the form
 */
export function useUndoableChange(
  environment: EnvironmentView,
  { text, onUndone }: { text(changed: EnvironmentView): string; onUndone?(previous: EnvironmentView): void },
) {
  const { id } = environment;
  const { mutateAsync: save } = useChangeEnvironment(environment);
  const offerUndo = useUndo();
  return useMutation({
    mutationFn: (body: EnvironmentChange) => save(body),
    onMutate: () => environment,
    onSuccess(changed, body, previous) {
      const pick = (from: EnvironmentView): EnvironmentChange =>
        Object.fromEntries(Object.keys(body).map((key) => [key, from[key as keyof EnvironmentChange]]));
      offerUndo(text(changed), {
        previous: pick(previous),
        saved: pick(changed),
        async read() {
          const { data } = await request("GET /environments");
          const current = data.find((each) => each.id === id);
          return current && "retention" in current ? pick(current) : {};
        },
        async restore(values) {
          await save(values);
          onUndone?.(previous);
        },
      });
    },
  });
}

export function RadioOptions<Value extends string>({
  label,
  options,
  value,
  onChange,
  isDisabled,
}: {
  label: string;
  options: readonly { value: Value; name: string; hint: string }[];
  value: NoInfer<Value>;
  onChange(value: NoInfer<Value>): void;
  isDisabled: boolean;
}) {
  return (
    <fieldset className={css.options} disabled={isDisabled}>
      <legend className={controls.hidden}>{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={css.option}>
          <input
            type="radio"
            name={label}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>
            <strong>{option.name}</strong>
            <span className={css.hint}>{option.hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Renders a note instead of the button if the operator is not an owner. */
export function SaveButton(props: { isOwner: boolean; isDisabled: boolean; isPending: boolean }) {
  const { isOwner, ...button } = props;
  if (!isOwner) return <OwnerOnly />;
  return (
    <div>
      <Button type="submit" variant="primary" {...button}>
        {forms.save}
      </Button>
    </div>
  );
}

export function OwnerOnly() {
  return <p>{texts.ownersOnly}</p>;
}
