import { Facts } from '../src/ui/Facts.tsx';
import { HashList } from '../src/ui/HashList.tsx';

export default { title: 'Facts' };

const HASH = `0x${'c0ffee'.repeat(10)}c0fe` as const;

export const InACard = {
  render: () => (
    <div className="card">
      <Facts
        rows={[
          ['Amount', '1.5 ETH'],
          ['Left out', undefined],
          ['Description', 'ASingleWordThatIsLongerThanAnyColumnOfAPhone'.repeat(3)],
        ]}
      />
    </div>
  ),
};
export const Hashes = {
  render: () => <HashList hashes={{ domainHash: HASH, messageHash: HASH, digest: HASH }} />,
};
