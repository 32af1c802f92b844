import type { ReactNode } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import css from "./controls.module.css";

/** Use it inside a `DialogTrigger`, or control it with `isOpen`. */
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
      className={css.backdrop ?? ""}
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
