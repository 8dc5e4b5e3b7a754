import { DayBars } from '../src/ui/DayBars.tsx';

export default { title: 'Day bars' };

const MONTH = Array.from({ length: 30 }, (_, day) => BigInt((day * 7_919) % 25));

export const AMonth = { render: () => <DayBars days={MONTH} of="Paid in each of 30 days" /> };
export const OneDay = {
  render: () => <DayBars days={MONTH.map((_, day) => (day === 12 ? 1n : 0n))} of="Paid in each of 30 days" />,
};
export const Nothing = { render: () => <DayBars days={MONTH.map(() => 0n)} of="Nothing paid in 30 days" /> };
