import { CircleCheck, CircleX, Info, PenLine, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from './classes.ts';
import styles from './notice.module.css';

interface Props {
  readonly tone?: 'plain' | 'accent' | 'good' | 'warning' | 'danger';
  readonly title?: string;
  /** Read out as soon as it appears. */
  readonly urgent?: boolean;
  readonly children?: ReactNode;
}

/** `accent`: something to do. */
const ICONS = {
  plain: Info,
  accent: PenLine,
  good: CircleCheck,
  warning: TriangleAlert,
  danger: CircleX,
} as const;

/** Something to know about what is below or beside it. */
export function Notice({ tone = 'plain', title, urgent = false, children }: Props) {
  const Icon = ICONS[tone];
  return (
    <div
      data-notice={tone}
      className={classes(styles.notice, styles[tone])}
      role={urgent ? 'alert' : undefined}
    >
      {title ? (
        <p className={styles.noticeTitle}>
          <Icon className="icon" aria-hidden="true" />
          <span>{title}</span>
        </p>
      ) : null}
      {children}
    </div>
  );
}
