import type { ReactNode } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { shell as texts } from "../messages/en/shell.ts";
import css from "./shell.module.css";

/** The navigation on narrow windows. */
export function Drawer({ onClose, children }: { onClose(): void; children: ReactNode }) {
  return (
    <ModalOverlay className={css.drawerBackdrop ?? ""} isDismissable isOpen onOpenChange={onClose}>
      <Modal className={css.drawer ?? ""}>
        <Dialog className={css.drawerBody ?? ""} aria-label={texts.menu}>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
