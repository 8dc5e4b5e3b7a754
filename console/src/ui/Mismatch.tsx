import { PayloadMismatch } from '@orgwallet/client';
import styles from './mismatch.module.css';
import { Notice } from './Notice.tsx';
import { ErrorNotice } from './States.tsx';

const shown = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));

/** A payload that is not what it should be. `title` says so. */
export function Mismatch({ problem, title }: { readonly problem: unknown; readonly title: string }) {
  if (!(problem instanceof PayloadMismatch)) return <ErrorNotice error={problem} />;
  return (
    <Notice tone="danger" title={title} urgent>
      <p>Nothing was signed. Report it to your operator, and do not sign it with another program.</p>
      <dl className={styles.mismatch}>
        <dt>Field</dt>
        <dd>
          <code>{problem.field}</code>
        </dd>
        <dt>Expected</dt>
        <dd>
          <code>{shown(problem.asked)}</code>
        </dd>
        <dt>In the payload</dt>
        <dd>
          <code>{shown(problem.got)}</code>
        </dd>
      </dl>
    </Notice>
  );
}
