import { Address, ShortAddress } from '../src/ui/Address.tsx';

export default { title: 'Address' };

const ADDRESS = '0xCc920D5B72DDbbb7782B104994B1Ea4939a5267E';

export const Whole = { render: () => <Address address={ADDRESS} /> };
export const InANarrowColumn = {
  render: () => (
    <div style={{ width: '16rem' }}>
      <Address address={ADDRESS} />
    </div>
  ),
};
export const WithoutCopy = { render: () => <Address address={ADDRESS} copy={false} /> };
export const BesideAName = {
  render: () => (
    <p>
      Treasury <ShortAddress address={ADDRESS} />
    </p>
  ),
};
