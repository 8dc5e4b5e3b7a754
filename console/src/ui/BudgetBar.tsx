import styles from './budget-bar.module.css';

/** How much of a budget is used, as a bar: the words beside it say what is left. */
export function BudgetBar({ used, of }: { readonly used: bigint; readonly of: bigint }) {
  const percent = of === 0n ? 100 : Math.min(100, Number((used * 1_000n) / of) / 10);
  return (
    <meter
      className={styles.budgetBar}
      aria-label="Budget used"
      min={0}
      max={100}
      high={80}
      optimum={0}
      value={percent}
    >
      {percent}%
    </meter>
  );
}
