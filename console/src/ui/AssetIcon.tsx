import type { Schema } from '@orgwallet/client';
import { assetDrawing, chainDrawing, type Drawing } from '../domain/assetIcon.ts';
import styles from './icons.module.css';

function Drawn({ drawing }: { readonly drawing: Drawing }) {
  return (
    <svg className={styles.iconOfAsset} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {'path' in drawing ? (
        <path d={drawing.path} />
      ) : (
        <text x="8" y="10.2">
          {drawing.letters}
        </text>
      )}
    </svg>
  );
}

/** A picture of an asset: its letters, where it is none that everybody knows. */
export function AssetIcon({
  networkId,
  asset,
}: {
  readonly networkId: number;
  readonly asset: Pick<Schema['Asset'], 'tokenAddress' | 'symbol'>;
}) {
  return <Drawn drawing={assetDrawing(networkId, asset)} />;
}

/** A picture of a network. */
export function ChainIcon({
  network,
}: {
  readonly network: Pick<Schema['Network'], 'name' | 'nativeAsset'>;
}) {
  return <Drawn drawing={chainDrawing(network)} />;
}
