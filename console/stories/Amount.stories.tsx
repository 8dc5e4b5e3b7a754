import { Amount } from '../src/ui/Amount.tsx';

export default { title: 'Amount' };

const ETHER = { symbol: 'ETH', decimals: 18 };

export const Exact = { render: () => <Amount raw="1500000000000000000" asset={ETHER} /> };
export const InSixDigits = { render: () => <Amount raw="1234567890123456789" asset={ETHER} /> };
export const Tiny = { render: () => <Amount raw="1" asset={ETHER} /> };
export const Huge = { render: () => <Amount raw={String(10n ** 33n)} asset={ETHER} /> };
export const OfAnUnknownToken = { render: () => <Amount raw="1500000" asset={undefined} /> };
