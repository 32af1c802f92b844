import { TextField } from "./controls.tsx";
import { Choice } from "./form-fields.tsx";

export interface ChosenTime<Id extends string> {
  id: Id;
  /** As the field gives it: of the choice of one's own. */
  own: string;
}

/** One of a few times, or one of one's own. */
export function TimeChoice<Id extends string>({
  label,
  options,
  own,
  value,
  onChange,
}: {
  label: string;
  options: Record<Id, string>;
  /** Which of the options is the time of one's own, and the field that it shows. */
  own: { id: NoInfer<Id>; label: string; type: "date" | "datetime-local"; hint: string };
  value: ChosenTime<NoInfer<Id>>;
  onChange(value: ChosenTime<NoInfer<Id>>): void;
}) {
  return (
    <>
      <Choice
        label={label}
        options={options}
        value={value.id}
        onChange={(id) => onChange({ ...value, id })}
      />
      {value.id === own.id && (
        <TextField
          label={own.label}
          type={own.type}
          hint={own.hint}
          value={value.own}
          onChange={(text) => onChange({ ...value, own: text })}
          isRequired
        />
      )}
    </>
  );
}
