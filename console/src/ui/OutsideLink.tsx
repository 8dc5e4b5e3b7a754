import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import styles from './outside-link.module.css';

/** A link to another site, in a tab of its own that knows nothing of this page. */
export function OutsideLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children} <ExternalLink className={styles.outsideMark} aria-hidden="true" />
      <span className="hidden-visually"> (opens a new tab)</span>
    </a>
  );
}
