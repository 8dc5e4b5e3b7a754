import { type AmountAsset, assetText, shortAmountText } from '../domain/amounts.ts';
import styles from './amount.module.css';

/** An amount in short; the exact one is shown on hover, read out, and printed. */
export function Amount({
  raw,
  asset,
}: {
  /** In the smallest unit. */
  readonly raw: string;
  readonly asset: AmountAsset | undefined;
}) {
  const [exact, short] = [assetText(raw, asset), assetText(raw, asset, shortAmountText)];
  if (exact === short) return <span>{exact}</span>;
  return (
    <span title={exact}>
      <span aria-hidden="true" className={styles.short}>
        {short}
      </span>
      <span className={`hidden-visually ${styles.exact}`}>{exact}</span>
    </span>
  );
}
