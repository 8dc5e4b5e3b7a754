import { Notice } from '../src/ui/Notice.tsx';

export default { title: 'Notice' };

export const Plain = { render: () => <Notice title="Waiting for others">Missing: Bob.</Notice> };
export const Accent = {
  render: () => (
    <Notice tone="accent" title="Needs your signature">
      Missing: 2 of Alice, Bob and Carol.
    </Notice>
  ),
};
export const Good = { render: () => <Notice tone="good" title="Completed" /> };
export const Warning = { render: () => <Notice tone="warning" title="Expired" /> };
export const Danger = { render: () => <Notice tone="danger" title="Failed: the call reverted" /> };
export const WithoutATitle = { render: () => <Notice>Balances there are not in the totals.</Notice> };
export const LongWord = {
  render: () => <Notice title={'AWordThatFitsIntoNoLine'.repeat(8)}>{'0123456789'.repeat(30)}</Notice>,
};
