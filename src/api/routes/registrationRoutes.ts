import { getRegistrationPayloadEndpoint, registerWalletEndpoint } from '../../contract/registrationContract';
import { openChallenge, registerWallet } from '../../credentials/walletRegistrations';
import type { Db } from '../../db/database';
import { listOpenChallenges } from '../../db/registrations';
import { notAdmitted } from '../../domain/admission';
import { credentialEnded } from '../../domain/credential';
import type { ApiDependencies } from '../dependencies';
import { badRequest, notFound, Refused } from '../refusals';
import { mutationRoute, type Route, readRoute } from '../requestContext';

function unknownWallet(): Refused {
  return badRequest([
    { field: 'walletAddress', message: 'wallet not found among the members of this organization' },
  ]);
}

/** GET /members/registrations/payload and POST /members/registrations. */
export function registrationRoutes({
  db,
  findSignedMessage,
}: { db: Db } & Pick<ApiDependencies, 'findSignedMessage'>): Route[] {
  return [
    readRoute(getRegistrationPayloadEndpoint, async ({ organizationId, query }) => {
      const messageToSign = await openChallenge(db, { organizationId, ...query });
      if (messageToSign === undefined) throw notFound('member');
      return { data: { messageToSign } };
    }),
    mutationRoute(registerWalletEndpoint, {
      // The signed text is resolved once: a repeated request verifies no signature again.
      async check({ organizationId, body: { walletAddress, signature } }) {
        const open = await listOpenChallenges(db, { organizationId, walletAddress });
        if (!open) throw unknownWallet();
        const { walletKind, challenges } = open;
        const messages = challenges.map(({ message }) => message);
        const signed = await findSignedMessage({ walletAddress, walletKind, signature, messages });
        if (!signed.ok) throw new Refused(signed.refusal);
        return { resourceId: challenges[signed.value]?.nonce ?? '' };
      },
      async send({ organizationId, credential }, { id, resourceId }) {
        const done = await registerWallet(db, {
          organizationId,
          nonce: resourceId,
          requestId: id,
          credentialId: credential.id,
        });
        if (done === 'notAdmitted') throw new Refused(notAdmitted(organizationId).refusal);
        if (done === 'unauthorized') throw new Refused(credentialEnded(credential.id));
        if (done === 'gone') throw unknownWallet();
        if (done === 'spent') {
          throw new Refused({
            code: 'invalidSignature',
            message:
              'the text that was signed has been used or has expired: a text works once, for 10 minutes',
            field: 'signature',
          });
        }
        const { walletAddress, registeredAt } = done;
        return {
          body: {
            data: { walletAddress, registered: true as const, registeredAt: registeredAt.toISOString() },
          },
        };
      },
    }),
  ];
}
