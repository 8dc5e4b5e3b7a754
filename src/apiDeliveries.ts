import type { ApiDependencies } from './api/dependencies';
import type { Clients } from './clients';
import { readDeliverySeed } from './db/installation';
import { sendNotice } from './delivery/noticeSending';
import { createDeliverySigner, type DeliverySigner } from './delivery/signatures';
import { sendTest } from './delivery/webhookTest';
import type { Lifetime } from './lifetime';
import { createMailer } from './mail/mailer';
import { pageAt } from './notices/compose';
import { createOutboundSender } from './outbound/sender';
import { type DeliveryRef, refreshDelivery, wakeDelivery } from './temporal/deliveryMessages';

/** What the API does about webhooks besides their records. */
export function createApiDeliveries(
  { config, db, logger, sender }: Clients,
  lifetime: Lifetime,
): ApiDependencies['deliveries'] {
  const { production, webhookAllowedRanges: allowedRanges, mail, origins } = config;
  const outbound = createOutboundSender({ allowedRanges, production });
  lifetime.onStop('the connections of tests', async () => outbound.stop());
  const mailer = mail ? createMailer(mail) : null;
  lifetime.onStop('the connection to the mail server', async () => mailer?.stop());
  let made: Promise<DeliverySigner> | undefined;
  const signer = () => {
    made ??= readDeliverySeed(db)
      .then(createDeliverySigner)
      .catch((error) => {
        made = undefined;
        throw error;
      });
    return made;
  };
  // Nobody waits for it: what is due is found within a second.
  const notify = (ref: DeliveryRef, message: typeof wakeDelivery) => {
    message(sender, ref).catch((error) =>
      logger.warn({ err: error, resourceId: ref.id }, 'the workflow of a destination was not notified'),
    );
  };
  return {
    sendNotice: (receiver, notice, id) => sendNotice({ outbound, mailer }, receiver, notice, id),
    sendsMail: mailer !== null,
    pageAt: (path) => pageAt({ origin: origins[0] ?? null }, path),
    refuseUrl: (url) => outbound.refuse(url),
    start: (ref) => notify(ref, wakeDelivery),
    refresh: (ref) => notify(ref, refreshDelivery),
    test: async (webhook) => sendTest(db, { outbound, signer: await signer() }, webhook),
    async secretsOf(webhook) {
      const { publicKey, secretsOf } = await signer();
      const secrets = secretsOf(webhook).map(({ secret, until }) => ({
        secret,
        until: until?.toISOString() ?? null,
      }));
      return { secrets, publicKey, organizationId: webhook.organizationId };
    },
    publicKey: async () => (await signer()).publicKey,
  };
}
