import { type BalanceOverTime, extremesOf } from '../domain/balanceOverTime.ts';
import styles from './balance-chart.module.css';

const WIDTH = 400;
const HEIGHT = 80;
/** What is after the last movement, and before the first: a balance lasts until the next one. */
const EDGE = 16;
const PARTS = 1_000;

/** A balance as a line with a step at each movement, from 0 up; `of` says in words what the picture shows. */
export function BalanceChart({ before, points, of }: BalanceOverTime & { readonly of: string }) {
  const { most } = extremesOf([before, ...points.map(({ balance }) => balance)]);
  const height = (balance: bigint) =>
    HEIGHT - 1 - (most === 0n ? 0 : (Number((balance * BigInt(PARTS)) / most) / PARTS) * (HEIGHT - 2));
  const first = points[0]?.at ?? 0;
  const span = (points.at(-1)?.at ?? 0) - first;
  const place = (at: number) => (span === 0 ? WIDTH / 2 : EDGE + ((at - first) / span) * (WIDTH - 2 * EDGE));
  const steps = points.map(({ at, balance }) => `H${place(at).toFixed(1)}V${height(balance).toFixed(1)}`);
  const line = `M0 ${height(before).toFixed(1)}${steps.join('')}H${WIDTH}`;
  return (
    <svg
      className={styles.balanceChart}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={of}
    >
      <path className={styles.area} d={`${line}V${HEIGHT}H0Z`} />
      <path className={styles.line} d={line} />
    </svg>
  );
}
