import type { ReactNode } from "react";
import {
  Button as AriaButton,
  type ButtonProps as AriaButtonProps,
  Switch as AriaSwitch,
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  Dialog,
  FieldError,
  Heading,
  Input,
  Label,
  Modal,
  ModalOverlay,
  type SwitchProps,
  Text,
} from "react-aria-components";
import css from "./controls.module.css";

interface ButtonProps extends Omit<AriaButtonProps, "className"> {
  look?: "plain" | "primary" | "quiet" | "danger";
  /** For an icon alone; give an `aria-label`. */
  square?: boolean;
  wide?: boolean;
}

export function Button({ look = "plain", square, wide, isPending = false, ...props }: ButtonProps) {
  const looks = [
    css.button,
    look !== "plain" && css[look],
    square && css.square,
    wide && css.wide,
    isPending && css.pending,
  ];
  const { onPress, type = "button", ...rest } = props;
  // It keeps the focus and does nothing. The library's own way leaves an element behind whose name is gone.
  const acting = isPending ? { type: "button" as const } : { type, ...(onPress && { onPress }) };
  return (
    <AriaButton
      // A field that loses focus may gain or lose its error. That would move the button from under the pointer
      // before the click, so the field keeps focus until then.
      onMouseDown={(event) => type === "submit" && event.preventDefault()}
      {...rest}
      {...acting}
      className={looks.filter(Boolean).join(" ")}
    />
  );
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

/** A text that matters now; errors are read out as they appear. */
export function Notice({ tone, children }: { tone: "good" | "bad" | "plain"; children: ReactNode }) {
  return (
    <div className={css.notice} data-tone={tone} role={tone === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** Over the page, until it is answered; inside a `DialogTrigger`, or opened by `isOpen`. */
export function ModalDialog({
  title,
  children,
  isOpen,
  onOpenChange,
}: {
  title: string;
  children: (close: () => void) => ReactNode;
  isOpen?: boolean;
  onOpenChange?: (open: boolean) => void;
}) {
  return (
    <ModalOverlay
      className={css.veil ?? ""}
      isDismissable
      {...(isOpen !== undefined && { isOpen })}
      {...(onOpenChange && { onOpenChange })}
    >
      <Modal className={css.dialog ?? ""}>
        <Dialog className={css.dialogBody ?? ""}>
          {({ close }) => (
            <>
              <Heading slot="title" level={2}>
                {title}
              </Heading>
              {children(close)}
            </>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
