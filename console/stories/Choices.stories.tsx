import { CheckList, RadioGroup } from '../src/ui/Choices.tsx';

export default { title: 'Choices' };

const nothing = () => undefined;
const MEMBERS = [
  { id: 'mem_1', name: 'Alice', hint: 'admin' },
  { id: 'mem_2', name: 'Bob' },
  { id: 'mem_3', name: 'A person with a name that is longer than the column that it is in' },
];
const list = { label: 'Members', empty: 'No members yet', onChange: nothing };

export const OneOfAFew = {
  render: () => (
    <RadioGroup
      label="Approval"
      options={[
        { value: 'none', label: 'No approval needed' },
        { value: 'group', label: 'Members of a group' },
      ]}
      value="group"
      onChange={nothing}
    />
  ),
};
export const AnyNumber = { render: () => <CheckList {...list} options={MEMBERS} chosen={['mem_2']} /> };
export const NothingToChoose = { render: () => <CheckList {...list} options={[]} chosen={[]} /> };
export const Wrong = {
  render: () => <CheckList {...list} options={MEMBERS} chosen={[]} error="choose at least one member" />,
};
