import type { ButtonHTMLAttributes } from 'react';
import styles from './button.module.css';
import { classes } from './classes.ts';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: 'primary' | 'plain' | 'danger' | 'quiet';
  /** What it does goes on: it stays where the keyboard is, and does nothing. */
  readonly busy?: boolean;
}

/** A button. While it is busy it takes no clicks, and keeps the focus. */
export function Button({
  look = 'plain',
  busy = false,
  type = 'button',
  className,
  onClick,
  ...rest
}: Props) {
  return (
    <button
      {...rest}
      type={type}
      data-look={look}
      className={classes(styles.button, styles[look], className)}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    />
  );
}
