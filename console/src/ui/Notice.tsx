import { CircleCheck, CircleX, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import './notice.css';

interface Props {
  readonly tone?: 'plain' | 'good' | 'warning' | 'danger';
  readonly title?: string;
  /** Read out as soon as it appears. */
  readonly urgent?: boolean;
  readonly children?: ReactNode;
}

const ICONS = { plain: Info, good: CircleCheck, warning: TriangleAlert, danger: CircleX } as const;

/** Something to know about what is below or beside it. */
export function Notice({ tone = 'plain', title, urgent = false, children }: Props) {
  const Icon = ICONS[tone];
  return (
    <div className={`notice ${tone}`} role={urgent ? 'alert' : undefined}>
      {title ? (
        <p className="notice-title">
          <Icon className="icon" aria-hidden="true" />
          <span>{title}</span>
        </p>
      ) : null}
      {children}
    </div>
  );
}
