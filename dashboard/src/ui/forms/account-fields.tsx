import { PASSWORD_LENGTH } from "@subtext/server/admin/contract/operator";
import { forms } from "../../messages/en/forms.ts";
import { TextField } from "./controls.tsx";

interface FieldProps {
  value: string;
  onChange(value: string): void;
}

export function NameField(props: FieldProps) {
  return <TextField {...props} label={forms.name} autoComplete="name" isRequired maxLength={100} autoFocus />;
}

export function NewPasswordField({ label = forms.password, ...props }: FieldProps & { label?: string }) {
  return (
    <TextField
      {...props}
      label={label}
      hint={forms.passwordHint(PASSWORD_LENGTH.min)}
      type="password"
      autoComplete="new-password"
      isRequired
      minLength={PASSWORD_LENGTH.min}
      maxLength={PASSWORD_LENGTH.max}
    />
  );
}
