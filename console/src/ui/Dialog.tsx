import { Dialog as AriakitDialog, DialogHeading } from '@ariakit/react/dialog';
import type { ReactNode } from 'react';
import styles from './dialog.module.css';

interface Props {
  readonly open: boolean;
  readonly title: string;
  /** Absent: it can only be answered. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
}

/** Something to answer before anything else. */
export function Dialog({ open, title, onClose, children }: Props) {
  return (
    <AriakitDialog
      open={open}
      onClose={() => onClose?.()}
      hideOnEscape={onClose !== undefined}
      hideOnInteractOutside={onClose !== undefined}
      backdrop={<div className={styles.backdrop} />}
      className={styles.dialog}
    >
      <DialogHeading>{title}</DialogHeading>
      {children}
    </AriakitDialog>
  );
}
