import { Page } from '../../ui/Page.tsx';

export function WaitingPage() {
  return <Page title="Waiting for you">{null}</Page>;
}
