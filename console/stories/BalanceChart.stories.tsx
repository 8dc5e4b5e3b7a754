import { BalanceChart } from '../src/ui/BalanceChart.tsx';

export default { title: 'Balance chart' };

const DAY_MS = 86_400_000;
const points = Array.from({ length: 20 }, (_, day) => ({
  at: day * day * DAY_MS,
  balance: BigInt((day * 7_919) % 25) * 10n ** 18n,
}));
const of = 'Balance over 90 days';

export const Many = { render: () => <BalanceChart before={5n} points={points} of={of} /> };
export const One = {
  render: () => <BalanceChart before={0n} points={[{ at: 0, balance: 2n ** 256n - 1n }]} of={of} />,
};
export const Nothing = {
  render: () => <BalanceChart before={0n} points={[{ at: 0, balance: 0n }]} of={of} />,
};
