/** What is read of an audit entry. */
interface Entry {
  readonly action: string;
  readonly position: string;
  readonly details: object;
}
type Fields = { readonly [field: string]: unknown };

/** The position at which a proposal was created; undefined where its entries do not go back that far. */
export function creationOf(entries: readonly Entry[]): bigint | undefined {
  const created = entries.find(({ action }) => action === 'proposal.created');
  return created && BigInt(created.position);
}

/** An account before it was on a network. */
function withoutNetwork(account: Fields | undefined, networkId: number | undefined): Fields | undefined {
  const networks = account?.networks as readonly { readonly id: number }[] | undefined;
  return networks ? { ...account, networks: networks.filter(({ id }) => id !== networkId) } : account;
}

/**
 * A record as it was at a position of the audit log: what each later entry about it changed is taken back, the newest first.
 * Undefined: there was none.
 *
 * @param present the record as it is; undefined: it is removed
 * @param entries those about the record, newest first
 */
export function asOf(
  present: Fields | undefined,
  entries: readonly Entry[],
  position: bigint,
): Fields | undefined {
  let then = present;
  for (const { action, details, position: at } of entries) {
    if (BigInt(at) <= position) break;
    const { before, after, networkId } = details as { before?: Fields; after?: Fields; networkId?: number };
    if (before) then = { ...then, ...before };
    // It was created later.
    else if (after) then = undefined;
    else if (action === 'account.deployed') then = withoutNetwork(then, networkId);
  }
  return then;
}
