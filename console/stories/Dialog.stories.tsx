import { Button } from '../src/ui/Button.tsx';
import { Dialog } from '../src/ui/Dialog.tsx';

export default { title: 'Dialog' };

const nothing = () => undefined;

export const CanBeClosed = {
  render: () => (
    <Dialog open title="Remove “Supplier”?" onClose={nothing}>
      <p>The address is shown without a name from now on.</p>
      <div className="row">
        <Button look="danger">Remove</Button>
        <Button onClick={nothing}>Cancel</Button>
      </div>
    </Dialog>
  ),
};
export const MustBeAnswered = {
  render: () => (
    <Dialog open title="Your session has ended">
      <p>Sign in again to continue.</p>
      <Button look="primary">Sign in</Button>
    </Dialog>
  ),
};
