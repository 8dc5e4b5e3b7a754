/** Where a block explorer shows an address or a chain transaction; undefined where the network has no explorer. */
export function explorerLink(
  network: { readonly explorerUrl?: string } | undefined,
  kind: 'address' | 'tx',
  value: string,
): string | undefined {
  const base = network?.explorerUrl;
  // A link to any other scheme would run in this page.
  if (base === undefined || !/^https?:\/\//i.test(base)) return undefined;
  return `${base.replace(/\/+$/, '')}/${kind}/${encodeURIComponent(value)}`;
}
