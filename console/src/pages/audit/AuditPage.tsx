import type { Schema } from '@orgwallet/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { orgwallet } from '../../api/client.ts';
import { auditQuery, readOlderEntries } from '../../api/queries.ts';
import { useOrganization } from '../../api/useOrganization.ts';
import { auditFilter } from '../../domain/auditFilter.ts';
import type { AuditNames } from '../../text/audit.ts';
import { AUDIT_COLUMNS } from '../../text/csvColumns.ts';
import { fieldErrors } from '../../text/errors.ts';
import { Export } from '../../ui/Export.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { Pager, usePages } from '../../ui/Pager.tsx';
import { Empty, ErrorNotice, Loading } from '../../ui/States.tsx';
import { AuditEntry } from './AuditEntry.tsx';
import { AuditFilters } from './AuditFilters.tsx';
import styles from './audit.module.css';
import { Proof } from './Proof.tsx';
import { useAuditProof } from './useAuditProof.ts';

const NONE: readonly Schema['AuditLogEntry'][] = [];
const unknown = () => undefined;
/** While the organization is not read yet. */
const NO_NAMES: AuditNames = { member: unknown, group: unknown, account: unknown, policy: unknown };

/** Every change of the organization, newest first. */
export function AuditPage() {
  const search = useSearch({ from: '/audit' });
  const filter = auditFilter(search);
  const query = useQuery(auditQuery(filter));
  const { entries, cursor } = query.data ?? {};
  const older = useMutation({ mutationKey: ['audit', filter], mutationFn: () => readOlderEntries(filter) });
  const { shown, pages } = usePages(entries ?? NONE, JSON.stringify(filter), { narrow: 5, wide: 20 });
  const { organization } = useOrganization();
  const names = organization ?? NO_NAMES;
  const isFiltered = Object.keys(search).length > 0;
  const proof = useAuditProof(JSON.stringify(filter), query.data, isFiltered);
  return (
    <Page title="Audit log" lead="Every change, and who made it. Entries are never changed or removed.">
      <Proof count={entries?.length ?? 0} proof={proof} />
      <Section
        title="Entries"
        id="entries"
        aside={
          <Export
            what="entries"
            fileName="audit-log.csv"
            columns={AUDIT_COLUMNS}
            read={(signal) => orgwallet.each('listAuditLogs', filter, { signal })}
          />
        }
      >
        <div className="stack">
          <AuditFilters key={JSON.stringify(search)} search={search} errors={fieldErrors(query.error)} />
          {query.error ? <ErrorNotice error={query.error} retry={() => void query.refetch()} /> : null}
          {query.isPending ? <Loading what="the audit log" /> : null}
          {shown.length > 0 ? (
            <ol className={styles.auditEntries}>
              {shown.map((entry) => (
                <AuditEntry key={entry.id} entry={entry} names={names} breaks={proof?.breaks.get(entry)} />
              ))}
            </ol>
          ) : null}
          {entries?.length === 0 ? (
            <Empty title={isFiltered ? 'No entry matches the filters' : 'No entries'}>
              {isFiltered ? <p>Choose other filters, or clear them.</p> : null}
            </Empty>
          ) : null}
          {entries && entries.length > 0 ? (
            <Pager
              what="entries"
              pages={pages}
              rest={{
                hasMore: cursor !== undefined,
                isReading: older.isPending,
                error: older.error,
                read: () => older.mutateAsync(),
              }}
            />
          ) : null}
        </div>
      </Section>
    </Page>
  );
}
