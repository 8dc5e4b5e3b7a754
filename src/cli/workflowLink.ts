/** Where an operator sees a workflow in the Temporal UI; null when this deployment does not know of a UI. */
export function workflowLink(
  temporal: { readonly uiUrl?: string | null; readonly namespace: string },
  workflowId: string,
): string | null {
  if (!temporal.uiUrl) return null;
  const base = temporal.uiUrl.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(temporal.namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}
