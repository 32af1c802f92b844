import { useId } from "react";
import { Checkbox, CheckboxGroup, FieldError, Label, TextArea, TextField } from "react-aria-components";
import controls from "./controls.module.css";
import css from "./form-fields.module.css";
import { CheckIcon } from "./icons.tsx";

interface CheckListProps<Id extends string> {
  label: string;
  /** In their order, each with what it means. */
  options: Record<Id, { name: string; hint: string }>;
  value: readonly Id[];
  onChange(value: Id[]): void;
}

/** Any number of a few things, at least one. */
export function CheckList<Id extends string>({ label, options, value, onChange }: CheckListProps<Id>) {
  const ids = Object.keys(options) as Id[];
  return (
    <CheckboxGroup
      className={controls.field ?? ""}
      value={[...value]}
      onChange={(chosen) => onChange(ids.filter((id) => chosen.includes(id)))}
      isRequired
    >
      <Label className={controls.label ?? ""}>{label}</Label>
      <div className={css.options}>
        {ids.map((id) => (
          <Checkbox key={id} value={id} className={css.option ?? ""}>
            <span className={css.box}>
              <CheckIcon />
            </span>
            <span>
              <span className={css.optionName}>{options[id].name}</span>
              <span className={css.optionHint}>{options[id].hint}</span>
            </span>
          </Checkbox>
        ))}
      </div>
      <FieldError className={controls.error ?? ""}>Choose at least one.</FieldError>
    </CheckboxGroup>
  );
}

interface ChoiceProps<Id extends string> {
  label: string;
  /** In their order, each with its name. */
  options: Record<Id, string>;
  value: NoInfer<Id>;
  onChange(value: NoInfer<Id>): void;
}

/** One of a few things, as the browser and the phone show such a choice. */
export function Choice<Id extends string>({ label, options, value, onChange }: ChoiceProps<Id>) {
  const id = useId();
  return (
    <div className={controls.field}>
      <label className={controls.label} htmlFor={id}>
        {label}
      </label>
      <select
        className={css.select}
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value as Id)}
      >
        {(Object.keys(options) as Id[]).map((each) => (
          <option key={each} value={each}>
            {options[each]}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Several lines. */
export function TextBlock({
  label,
  hint,
  error,
  value,
  onChange,
}: {
  label: string;
  hint: string;
  /** What is wrong with it, for people; null where nothing is. */
  error: string | null;
  value: string;
  onChange(value: string): void;
}) {
  return (
    <TextField
      className={controls.field ?? ""}
      value={value}
      onChange={onChange}
      isInvalid={error !== null}
      validationBehavior="aria"
    >
      <Label className={controls.label ?? ""}>{label}</Label>
      <TextArea className={css.area ?? ""} spellCheck={false} />
      <span className={controls.hint}>{hint}</span>
      <FieldError className={controls.error ?? ""}>{error}</FieldError>
    </TextField>
  );
}
