import { ApiError, NoAnswer } from '@orgwallet/client';
import { Button } from '../src/ui/Button.tsx';
import { Empty, ErrorNotice, Loading } from '../src/ui/States.tsx';

export default { title: 'States' };

const nothing = () => undefined;

export const BeingRead = { render: () => <Loading what="members" /> };
export const BeingReadInACard = {
  render: () => (
    <div className="card">
      <Loading what="balances" />
    </div>
  ),
};
export const Nothing = {
  render: () => (
    <Empty title="No payments yet">
      <p>Send one: approvers see it at once.</p>
      <Button>New transfer</Button>
    </Empty>
  ),
};
export const Refused = {
  render: () => (
    <ErrorNotice
      error={new ApiError('forbidden', 403, 'only admins may do this', {}, 'req_01jz8k3v5fe5ht0n2m6w')}
    />
  ),
};
export const NotAnswered = {
  render: () => <ErrorNotice error={new NoAnswer('no answer to GET /members', undefined)} retry={nothing} />,
};
