/** How many open proposals and transactions an API key has made, as an SQL expression of two others. */
export function openOfKey(organizationId: string, apiKeyId: string): string {
  const counts = ['proposals', 'transactions'].map(
    (table) => `(SELECT count(*)::integer FROM ${table}
        WHERE organization_id = ${organizationId} AND created_by_key = ${apiKeyId} AND closed_at IS NULL)`,
  );
  return `(${counts.join(' + ')})`;
}
