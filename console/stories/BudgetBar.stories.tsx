import { BudgetBar } from '../src/ui/BudgetBar.tsx';

export default { title: 'Budget bar' };

export const Unused = { render: () => <BudgetBar used={0n} of={100n} /> };
export const Half = { render: () => <BudgetBar used={50n} of={100n} /> };
export const NearlyUsed = { render: () => <BudgetBar used={95n} of={100n} /> };
export const Overdrawn = { render: () => <BudgetBar used={120n} of={100n} /> };
export const OfNothing = { render: () => <BudgetBar used={0n} of={0n} /> };
