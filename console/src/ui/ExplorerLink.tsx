import type { Schema } from '@orgwallet/client';
import { explorerLink } from '../text/explorer.ts';
import { OutsideLink } from './OutsideLink.tsx';

interface Props {
  readonly network: Schema['Network'] | undefined;
  readonly kind: 'address' | 'tx';
  readonly value: string;
  /** What one sees there, for those who do not see what is beside it. */
  readonly of: string;
}

/** Leads to the block explorer of a network; nothing where it has none. */
export function ExplorerLink({ network, kind, value, of }: Props) {
  const href = explorerLink(network, kind, value);
  if (href === undefined) return null;
  return (
    <OutsideLink href={href}>
      Explorer
      <span className="hidden-visually">
        {' '}
        of {network?.name}: {of}
      </span>
    </OutsideLink>
  );
}
