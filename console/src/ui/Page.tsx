import { type ReactNode, useEffect, useRef } from 'react';
import { needsYou } from '../state/needsYou.ts';
import { useStore } from '../state/store.ts';
import { Unbroken } from './Address.tsx';
import styles from './page.module.css';

interface Props {
  /** The heading, and the title of the browser's tab, there after the count of what waits for the member. */
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

let visited = false;

/** A page: its heading gets the focus when somebody comes from another one. */
export function Page({ title, lead, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const count = useStore(needsYou);
  useEffect(() => {
    if (visited) heading.current?.focus();
    visited = true;
  }, []);
  return (
    <>
      <title>{`${count === '' ? '' : `(${count}) `}${title} · orgwallet`}</title>
      <header className={styles.pageHeader}>
        <div className="stack-small">
          <h1 ref={heading} tabIndex={-1}>
            <Unbroken text={title} />
          </h1>
          {lead ? <div className={styles.pageLead}>{lead}</div> : null}
        </div>
        {actions ? <div className="row">{actions}</div> : null}
      </header>
      {children}
    </>
  );
}

/** A part of a page with its heading. */
export function Section({
  title,
  id,
  aside,
  children,
}: {
  readonly title: string;
  readonly id: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.sectionHead}>
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
