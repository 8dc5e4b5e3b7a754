import type { ReactNode } from 'react';
import './notice.css';

interface Props {
  readonly tone?: 'plain' | 'good' | 'warning' | 'danger';
  readonly title?: string;
  /** Read out as soon as it appears. */
  readonly urgent?: boolean;
  readonly children?: ReactNode;
}

/** Something to know about what is below or beside it. */
export function Notice({ tone = 'plain', title, urgent = false, children }: Props) {
  return (
    <div className={`notice ${tone}`} role={urgent ? 'alert' : undefined}>
      {title ? <p className="notice-title">{title}</p> : null}
      {children}
    </div>
  );
}
