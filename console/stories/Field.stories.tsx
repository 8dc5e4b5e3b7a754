import { CheckField, RecordField, TextArea, TextField } from '../src/ui/Field.tsx';

export default { title: 'Field' };

const nothing = () => undefined;
const NETWORKS = [
  { id: 1, name: 'Ethereum' },
  { id: 10, name: 'OP Mainnet' },
];

export const Text = { render: () => <TextField label="Name" defaultValue="Treasury" /> };
export const WithAHint = { render: () => <TextField label="Amount" hint="Balance: 1.5 ETH" /> };
export const Wrong = {
  render: () => <TextField label="Amount" hint="Balance: 1.5 ETH" error="must be a positive number" />,
};
export const Disabled = { render: () => <TextField label="Amount" disabled hint="Choose an asset first." /> };
export const Area = {
  render: () => <TextArea label="Metadata" hint="A name, a colon and a value on each line." />,
};
export const Choice = {
  render: () => (
    <RecordField label="Network" none="Choose a network" records={NETWORKS} value="10" onChange={nothing} />
  ),
};
export const Tick = {
  render: () => <CheckField label="Execute immediately" hint="Your signature meets the threshold." />,
};
