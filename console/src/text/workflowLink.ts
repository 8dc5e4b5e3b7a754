import type { Approval, Schema } from '@orgwallet/client';

/** Where operators see the workflow of a request; undefined where no Temporal UI is configured. */
export function workflowLink(
  approval: Approval,
  {
    temporalUiUrl,
    temporalNamespace = 'default',
    organization,
  }: Pick<Schema['Session'], 'temporalUiUrl' | 'temporalNamespace' | 'organization'>,
): string | undefined {
  if (!temporalUiUrl) return undefined;
  const resource = 'resourceType' in approval ? approval.resourceType : 'transactions';
  const workflowId = `${organization.id}/${resource}/${approval.id}`;
  const base = temporalUiUrl.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(temporalNamespace)}/workflows/${encodeURIComponent(workflowId)}`;
}
