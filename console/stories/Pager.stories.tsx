import { Pager } from '../src/ui/Pager.tsx';

export default { title: 'Pager' };

const pages = { size: 20, count: 45, onTurn: () => undefined };
const rest = { hasMore: true, isReading: false, error: null, read: async () => undefined };

export const First = { render: () => <Pager what="members" pages={{ ...pages, first: 0 }} /> };
export const Last = { render: () => <Pager what="members" pages={{ ...pages, first: 40 }} /> };
export const Reading = {
  render: () => <Pager what="members" pages={{ ...pages, first: 40 }} rest={{ ...rest, isReading: true }} />,
};
export const Failed = {
  render: () => (
    <Pager what="members" pages={{ ...pages, first: 40 }} rest={{ ...rest, error: new Error('no answer') }} />
  ),
};
export const Nothing = { render: () => <Pager what="members" pages={{ ...pages, first: 0, count: 0 }} /> };
