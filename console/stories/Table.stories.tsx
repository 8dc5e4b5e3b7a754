import { Badge } from '../src/ui/Badge.tsx';
import { type Columns, Table } from '../src/ui/Table.tsx';

export default { title: 'Table' };

interface Member {
  readonly name: string;
  readonly role: string;
  readonly paid: string;
}

const COLUMNS: Columns<Member> = [
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Role', cell: ({ role }) => <Badge>{role}</Badge> },
  { name: 'Paid', cell: ({ paid }) => paid, align: 'end' },
];
const MEMBERS: readonly Member[] = [
  { name: 'Alice', role: 'person, admin', paid: '1 250.5 ETH' },
  { name: 'Bob', role: 'person', paid: '0.002 ETH' },
  { name: 'Payroll', role: 'bot', paid: '' },
];
const table = { caption: 'Members', columns: COLUMNS, rowKey: ({ name }: Member) => name };

export const Rows = { render: () => <Table {...table} rows={MEMBERS} /> };
export const Sorted = { render: () => <Table {...table} rows={MEMBERS} sortedBy="-Name" /> };
export const LongName = {
  render: () => <Table {...table} rows={[{ name: 'x'.repeat(100), role: 'person', paid: '1 ETH' }]} />,
};
