import type { ComponentProps, FormEvent, MouseEvent, ReactNode, Ref } from "react";
import {
  Button as AriaButton,
  type ButtonProps as AriaButtonProps,
  Form as AriaForm,
  Switch as AriaSwitch,
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  Label,
  Radio,
  RadioGroup,
  type SwitchProps,
  Text,
} from "react-aria-components";
import { messageOf } from "../../admin-client/request.ts";
import { forms } from "../../messages/en/forms.ts";
import css from "./controls.module.css";

interface ButtonProps extends Omit<AriaButtonProps, "className"> {
  variant?: "plain" | "primary" | "quiet" | "danger";
  /** Requires an `aria-label`. */
  iconOnly?: boolean;
  fullWidth?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ variant = "plain", iconOnly, fullWidth, isPending = false, ...props }: ButtonProps) {
  const classNames = [
    css.button,
    variant !== "plain" && css[variant],
    iconOnly && css.iconOnly,
    fullWidth && css.fullWidth,
    isPending && css.pending,
  ];
  const { onPress, type = "button", ...rest } = props;
  // A pending button keeps the focus and ignores presses. The library's `isPending` would drop its accessible name.
  const actions = isPending ? { type: "button" as const } : { type, ...(onPress && { onPress }) };
  return (
    <AriaButton
      {...rest}
      {...actions}
      {...(iconOnly && { render: withTitle })}
      className={classNames.filter(Boolean).join(" ")}
    />
  );
}

/** Shows the name of an icon to people with a mouse. */
function withTitle(props: ComponentProps<"button">) {
  return <button {...props} title={props["aria-label"]} />;
}

interface TextFieldProps extends Omit<AriaTextFieldProps, "className" | "children"> {
  label: string;
  hint?: string;
  placeholder?: string;
}

export function TextField({ label, hint, placeholder, ...props }: TextFieldProps) {
  return (
    <AriaTextField {...props} className={css.field ?? ""}>
      <Label className={css.label ?? ""}>{label}</Label>
      <Input className={css.input ?? ""} {...(placeholder !== undefined && { placeholder })} />
      {hint && (
        <Text slot="description" className={css.hint ?? ""}>
          {hint}
        </Text>
      )}
      <FieldError className={css.error ?? ""} />
    </AriaTextField>
  );
}

export function Switch({ children, ...props }: Omit<SwitchProps, "className"> & { children: ReactNode }) {
  return (
    <AriaSwitch {...props} className={css.switch ?? ""}>
      <span className={css.track} />
      <span>{children}</span>
    </AriaSwitch>
  );
}

export function SegmentedControl<Value extends string>({
  label,
  hideLabel,
  options,
  value,
  onChange,
}: {
  label: string;
  hideLabel?: boolean;
  options: readonly { value: Value; name: string; icon?: ReactNode }[];
  value: NoInfer<Value>;
  onChange(value: NoInfer<Value>): void;
}) {
  return (
    <RadioGroup
      className={css.field ?? ""}
      orientation="horizontal"
      value={value}
      onChange={(chosen) => onChange(chosen as Value)}
      {...(hideLabel && { "aria-label": label })}
    >
      {!hideLabel && <Label className={css.label ?? ""}>{label}</Label>}
      <div className={css.segments}>
        {options.map(({ value: option, name, icon }) => (
          <Radio
            key={option}
            value={option}
            className={css.segment ?? ""}
            {...(icon !== undefined && { "aria-label": name })}
          >
            {icon ?? name}
          </Radio>
        ))}
      </div>
    </RadioGroup>
  );
}

export function Form({
  onSubmit,
  error,
  children,
}: {
  onSubmit(): void;
  error?: unknown;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <AriaForm className={css.form ?? ""} onMouseDownCapture={keepFocusUntilClick} onSubmit={submit}>
      <ErrorNotice error={error} />
      {children}
    </AriaForm>
  );
}

/**
 * When a field loses the focus, its error may appear or disappear, which would move a button or a switch away from the
 * pointer before the click. So the field keeps the focus until the click.
 */
function keepFocusUntilClick(event: MouseEvent): void {
  if (event.target instanceof Element && event.target.closest("button, label")) event.preventDefault();
}

export function FormActions({
  submitLabel,
  variant = "primary",
  isPending,
  isDisabled = false,
  cancelLabel = forms.cancel,
  onCancel,
}: {
  submitLabel: string;
  variant?: "primary" | "danger";
  isPending: boolean;
  isDisabled?: boolean;
  cancelLabel?: string;
  onCancel?: (() => void) | undefined;
}) {
  return (
    <div className={css.actions}>
      {onCancel && <Button onPress={onCancel}>{cancelLabel}</Button>}
      <Button type="submit" variant={variant} isPending={isPending} isDisabled={isDisabled}>
        {submitLabel}
      </Button>
    </div>
  );
}

export function ErrorNotice({ error }: { error: unknown }) {
  return error ? <Notice tone="bad">{messageOf(error)}</Notice> : null;
}

export function Notice({ tone, children }: { tone: "good" | "bad" | "plain"; children: ReactNode }) {
  return (
    <div className={css.notice} data-tone={tone} role={tone === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}
