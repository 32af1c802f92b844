import { PASSWORD_LENGTH } from "@subtext/server/admin/contract/operator";
import { TextField } from "./controls.tsx";

interface FieldProps {
  value: string;
  onChange(value: string): void;
}

export function NameField(props: FieldProps) {
  return <TextField {...props} label="Name" autoComplete="name" isRequired maxLength={100} autoFocus />;
}

export function NewPasswordField({ label = "Password", ...props }: FieldProps & { label?: string }) {
  return (
    <TextField
      {...props}
      label={label}
      hint={`At least ${PASSWORD_LENGTH.min} characters.`}
      type="password"
      autoComplete="new-password"
      isRequired
      minLength={PASSWORD_LENGTH.min}
      maxLength={PASSWORD_LENGTH.max}
    />
  );
}
