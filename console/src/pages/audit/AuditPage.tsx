import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { orgwallet } from '../../api/client.ts';
import { auditQuery, readOlderEntries } from '../../api/queries.ts';
import { auditFilter } from '../../domain/auditFilter.ts';
import { AUDIT_COLUMNS } from '../../text/csvColumns.ts';
import { fieldErrors } from '../../text/errors.ts';
import { Export } from '../../ui/Export.tsx';
import { More } from '../../ui/More.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { Empty, ErrorNotice, Loading } from '../../ui/States.tsx';
import { AuditEntry } from './AuditEntry.tsx';
import { AuditFilters } from './AuditFilters.tsx';
import { Proof } from './Proof.tsx';
import { useAuditProof } from './useAuditProof.ts';
import './audit.css';

/** Every change of the organization, newest first. */
export function AuditPage() {
  const search = useSearch({ from: '/audit' });
  const filter = auditFilter(search);
  const query = useQuery(auditQuery(filter));
  const { entries, cursor } = query.data ?? {};
  const older = useMutation({ mutationKey: ['audit', filter], mutationFn: () => readOlderEntries(filter) });
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
          {entries && entries.length > 0 ? (
            <ol className="audit-entries">
              {entries.map((entry) => (
                <AuditEntry key={entry.id} entry={entry} breaks={proof?.breaks.get(entry)} />
              ))}
            </ol>
          ) : null}
          {entries?.length === 0 ? (
            <Empty title={isFiltered ? 'No entry matches the filters' : 'No entries'}>
              {isFiltered ? <p>Choose other filters, or clear them.</p> : null}
            </Empty>
          ) : null}
          {entries && entries.length > 0 ? (
            <More
              hasMore={cursor !== undefined}
              isReading={older.isPending}
              error={older.error}
              count={`${entries.length} shown`}
              what="entries"
              onMore={() => older.mutate()}
            />
          ) : null}
        </div>
      </Section>
    </Page>
  );
}
