import styles from './day-bars.module.css';

const HEIGHT = 40;
const STEP = 8;
const WIDTH = 5;
/** A day with little is not one with nothing. */
const LEAST = 1.5;

/** A bar for each day, as high as its part of the largest; `of` says in words what the picture shows. */
export function DayBars({ days, of }: { readonly days: readonly bigint[]; readonly of: string }) {
  const [most = 0n] = days.toSorted((one, two) => (one < two ? 1 : -1));
  return (
    <svg
      className={styles.dayBars}
      viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={of}
    >
      {days.map((amount, day) => {
        const part = most === 0n ? 0 : Number((amount * 1_000n) / most) / 1_000;
        const height = amount === 0n ? 0.5 : Math.max(LEAST, part * HEIGHT);
        return <rect key={day.toString()} x={day * STEP} y={HEIGHT - height} width={WIDTH} height={height} />;
      })}
    </svg>
  );
}
