import { useSession } from '../../api/useSession.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { NewWebhook } from './NewWebhook.tsx';
import { Webhooks } from './Webhooks.tsx';

/** Who and what hears of events, for admins. */
export function NotificationsPage() {
  const { isAdmin, organization } = useSession();
  return (
    <Page title="Notifications" lead={`Where the events of ${organization.name} are sent to.`}>
      {isAdmin ? (
        <>
          <Section title="Webhooks" id="webhooks">
            <Webhooks />
          </Section>
          <Section title="New webhook" id="new-webhook">
            <NewWebhook />
          </Section>
        </>
      ) : (
        <Notice title="Only admins see webhooks">
          <p>Ask an admin of your organization for one.</p>
        </Notice>
      )}
    </Page>
  );
}
