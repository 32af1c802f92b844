import { useId } from "react";
import {
  TextField as AriaTextField,
  Checkbox,
  CheckboxGroup,
  FieldError,
  Label,
  Text,
  TextArea,
} from "react-aria-components";
import { forms } from "../../messages/en/forms.ts";
import { CheckIcon } from "../icons.tsx";
import controls from "./controls.module.css";
import { TextField } from "./controls.tsx";
import css from "./form-fields.module.css";

interface CheckboxListProps<Id extends string> {
  label: string;
  options: Record<Id, { name: string; hint: string }>;
  value: readonly Id[];
  onChange(value: Id[]): void;
}

export function CheckboxList<Id extends string>({ label, options, value, onChange }: CheckboxListProps<Id>) {
  const ids = Object.keys(options) as Id[];
  return (
    <CheckboxGroup
      className={controls.field ?? ""}
      value={[...value]}
      onChange={(selected) => onChange(ids.filter((id) => selected.includes(id)))}
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
      <FieldError className={controls.error ?? ""}>{forms.chooseOne}</FieldError>
    </CheckboxGroup>
  );
}

interface SelectProps<Id extends string> {
  label: string;
  hint?: string;
  options: Record<Id, string>;
  value: NoInfer<Id>;
  onChange(value: NoInfer<Id>): void;
}

/** A native select, which works best on phones. */
export function Select<Id extends string>({ label, hint, options, value, onChange }: SelectProps<Id>) {
  const id = useId();
  return (
    <div className={controls.field}>
      <label className={controls.label} htmlFor={id}>
        {label}
      </label>
      <select
        className={css.select}
        id={id}
        aria-describedby={hint && `${id}-hint`}
        value={value}
        onChange={(event) => onChange(event.target.value as Id)}
      >
        {(Object.keys(options) as Id[]).map((option) => (
          <option key={option} value={option}>
            {options[option]}
          </option>
        ))}
      </select>
      {hint && (
        <span className={controls.hint} id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

export interface SelectedTime<Id extends string> {
  id: Id;
  custom: string;
}

/** A select whose option `custom.id` shows a field for a custom time. */
export function TimeSelect<Id extends string>({
  label,
  options,
  custom,
  value,
  onChange,
}: {
  label: string;
  options: Record<Id, string>;
  custom: { id: NoInfer<Id>; label: string; type: "date" | "datetime-local"; hint: string };
  value: SelectedTime<NoInfer<Id>>;
  onChange(value: SelectedTime<NoInfer<Id>>): void;
}) {
  return (
    <>
      <Select
        label={label}
        options={options}
        value={value.id}
        onChange={(id) => onChange({ ...value, id })}
      />
      {value.id === custom.id && (
        <TextField
          label={custom.label}
          type={custom.type}
          hint={custom.hint}
          value={value.custom}
          onChange={(text) => onChange({ ...value, custom: text })}
          isRequired
        />
      )}
    </>
  );
}

export function MultilineField({
  label,
  hint,
  error,
  value,
  onChange,
}: {
  label: string;
  hint: string;
  error: string | null;
  value: string;
  onChange(value: string): void;
}) {
  return (
    <AriaTextField
      className={controls.field ?? ""}
      value={value}
      onChange={onChange}
      isInvalid={error !== null}
      validationBehavior="aria"
    >
      <Label className={controls.label ?? ""}>{label}</Label>
      <TextArea className={css.textArea ?? ""} spellCheck={false} />
      <Text slot="description" className={controls.hint ?? ""}>
        {hint}
      </Text>
      <FieldError className={controls.error ?? ""}>{error}</FieldError>
    </AriaTextField>
  );
}
