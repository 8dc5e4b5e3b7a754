import type { ReactNode } from 'react';
import styles from './badge.module.css';
import { classes } from './classes.ts';

/** A state, in one or two words. */
export function Badge({
  tone = 'plain',
  children,
}: {
  readonly tone?: 'plain' | 'good' | 'warning' | 'danger' | 'accent';
  readonly children: ReactNode;
}) {
  return (
    <span data-badge className={classes(styles.badge, styles[tone])}>
      {children}
    </span>
  );
}
