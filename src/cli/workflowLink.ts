/** The URL of a workflow in the Temporal UI; null when no UI is configured. */
export function workflowLink(
  temporal: { readonly uiUrl?: string | null; readonly namespace: string },
  workflowId: string,
): string | null {
  if (!temporal.uiUrl) return null;
  const base = temporal.uiUrl.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(temporal.namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}

/** The URL of the workflows that match a query in the Temporal UI. */
export function workflowListLink(
  temporal: { readonly uiUrl: string; readonly namespace: string },
  query: string,
): string {
  const base = temporal.uiUrl.replace(/\/+$/, '');
  const namespace = encodeURIComponent(temporal.namespace);
  return `${base}/namespaces/${namespace}/workflows?query=${encodeURIComponent(query)}`;
}
