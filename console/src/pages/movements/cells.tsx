import type { Schema } from '@orgwallet/client';
import { NATIVE_CURRENCY } from '../../domain/assets.ts';
import { counterpartyName, MOVEMENT_MARKS, MOVEMENT_STATUSES, tokenIdText } from '../../text/movements.ts';
import { ShortAddress } from '../../ui/Address.tsx';
import { AddressIcon } from '../../ui/AddressIcon.tsx';
import { Amount } from '../../ui/Amount.tsx';
import { AssetIcon } from '../../ui/AssetIcon.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { classes } from '../../ui/classes.ts';
import { ShortText } from '../../ui/ShortText.tsx';
import styles from './movements.module.css';

type Movement = Schema['Movement'];

/** What came in or went out. The address of a token that nobody has named is beside its symbol, which says whatever its contract says. */
export function Moved({ movement }: { readonly movement: Movement }) {
  const { direction, networkId, asset, rawAmount, tokenId, verified, status } = movement;
  return (
    <span className={styles.moved}>
      <AssetIcon networkId={networkId} asset={asset} />
      <span className={classes(styles[direction], status === 'reversed' && styles.reversed)}>
        <span className="hidden-visually">{direction === 'in' ? 'received ' : 'sent '}</span>
        <span aria-hidden="true">{direction === 'in' ? '+' : '−'}</span>
        <bdi>
          <Amount raw={rawAmount} asset={tokenId === null ? asset : { ...asset, decimals: 0 }} />
        </bdi>
        {tokenId === null ? null : <span title={`#${tokenId}`}> {tokenIdText(tokenId)}</span>}
      </span>
      {verified || asset.tokenAddress === NATIVE_CURRENCY ? null : (
        <span className="small">
          <ShortText text={asset.tokenAddress} of="address of the token" head={6} tail={4} />
        </span>
      )}
    </span>
  );
}

/** Why somebody may take it for something else, and that nobody has named its token. */
export function Marks({ movement: { verified, marks, cause } }: { readonly movement: Movement }) {
  return (
    <div className={styles.marks}>
      {verified ? null : <Badge tone="warning">unverified token</Badge>}
      {marks.map((mark) => (
        <Badge key={mark} tone="danger">
          {MOVEMENT_MARKS[mark]}
        </Badge>
      ))}
      {cause === 'fee' ? <Badge>fee</Badge> : null}
    </div>
  );
}

/** Whom it came from, or went to. */
export function Counterparty({ movement }: { readonly movement: Movement }) {
  const { address, kind } = movement.counterparty;
  const name = counterpartyName(movement);
  if (kind === 'none') return <span className="muted">{name}</span>;
  return (
    <span className={styles.party}>
      <AddressIcon address={address} />
      {name === undefined ? null : <bdi>{name}</bdi>}
      {kind === 'addressBookEntry' ? <span className="small muted">address book</span> : null}
      <ShortAddress address={address} />
    </span>
  );
}

/** How far it is. */
export function MovementStatus({ status }: Pick<Movement, 'status'>) {
  const { text, tone } = MOVEMENT_STATUSES[status];
  return <Badge tone={tone}>{text}</Badge>;
}
