import { useSession } from '../../api/useSession.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { Channels, OwnAddress } from './Channels.tsx';
import { NewChannel } from './NewChannel.tsx';
import { NewWebhook } from './NewWebhook.tsx';
import { Webhooks } from './Webhooks.tsx';

/** Who and what hears of events: the own address of everybody, and for admins channels and webhooks. */
export function NotificationsPage() {
  const { isAdmin, organization } = useSession();
  return (
    <Page
      title="Notifications"
      lead={`Who is notified of what happens in ${organization.name}: people, chats and programs.`}
    >
      <Section title="Your email address" id="address">
        <OwnAddress />
      </Section>
      {isAdmin ? (
        <>
          <Section title="Channels" id="channels">
            <Channels />
          </Section>
          <Section title="New channel" id="new-channel">
            <NewChannel />
          </Section>
          <Section title="Webhooks" id="webhooks">
            <Webhooks />
          </Section>
          <Section title="New webhook" id="new-webhook">
            <NewWebhook />
          </Section>
        </>
      ) : (
        <Notice title="Only admins see channels and webhooks">
          <p>Ask an admin of your organization for one.</p>
        </Notice>
      )}
    </Page>
  );
}
