import { Button } from '../src/ui/Button.tsx';

export default { title: 'Button' };

const LOOKS = ['primary', 'plain', 'danger', 'quiet'] as const;

const all = (props: { readonly busy?: boolean; readonly disabled?: boolean }) => (
  <p className="row">
    {LOOKS.map((look) => (
      <Button key={look} look={look} {...props}>
        Approve, {look}
      </Button>
    ))}
  </p>
);

export const Looks = { render: () => all({}) };
export const Busy = { render: () => all({ busy: true }) };
export const Disabled = { render: () => all({ disabled: true }) };
