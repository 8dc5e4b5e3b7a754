import type { ReactNode } from 'react';
import './badge.css';

/** A state, in one or two words. */
export function Badge({
  tone = 'plain',
  children,
}: {
  readonly tone?: 'plain' | 'good' | 'warning' | 'danger' | 'accent';
  readonly children: ReactNode;
}) {
  return <span className={`badge ${tone}`}>{children}</span>;
}
