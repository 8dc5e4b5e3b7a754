import { z } from 'zod';
import { address, timestamp } from '../domain/schemas';
import { endpoint } from './endpoint';
import { addressInput, dataResponse } from './primitives';

const walletAddress = addressInput.meta({ description: 'Wallet address of a member.' });

export const getRegistrationPayloadEndpoint = endpoint({
  id: 'getRegistrationPayload',
  tag: 'Members',
  method: 'get',
  path: '/members/registrations/payload',
  access: 'read',
  summary: 'Get the text that proves control of a wallet',
  description:
    'Returns a new text each time. It names organization, address, nonce and time, and is valid once, for 10 ' +
    'minutes. The 10 newest texts of a wallet are valid.',
  params: {},
  query: z.strictObject({ walletAddress }),
  response: dataResponse(
    z
      .object({
        messageToSign: z.string().meta({ description: 'Text to sign as it is (EIP-191, `personal_sign`).' }),
      })
      .meta({ id: 'RegistrationPayload', description: 'Text that proves control of a wallet.' }),
  ),
  status: 200,
  errors: ['notFound'],
});

export const registerWalletEndpoint = endpoint({
  id: 'registerWallet',
  tag: 'Members',
  method: 'post',
  path: '/members/registrations',
  access: 'read',
  summary: 'Prove control of the wallet of a member',
  description:
    'Grants nothing and is not needed to vote. Refused before the genesis of the organization is admitted. A second proof keeps the first `registeredAt`; a new wallet address ' +
    'sets it to null.',
  params: {},
  query: z.strictObject({}),
  body: z.strictObject({
    walletAddress,
    signature: z.string().meta({
      description:
        'Signature of `messageToSign`, 0x hex: 65 bytes (EIP-191), or bytes that a contract wallet accepts ' +
        '(EIP-1271). Unlike votes, it is not encoded together with the address.',
      pattern: '^0x([0-9a-fA-F]{2})*$',
      examples: [`0x${'1f'.repeat(64)}1b`],
    }),
  }),
  response: dataResponse(
    z
      .object({
        walletAddress: address,
        registered: z.literal(true).meta({ description: 'Always `true`.' }),
        registeredAt: timestamp.meta({ description: 'When control of the wallet was first proved.' }),
      })
      .meta({ id: 'Registration', description: 'The proof of control of a wallet.' }),
  ),
  status: 200,
  errors: ['invalidSignature'],
  exampleBody: {
    walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    signature: `0x${'1f'.repeat(64)}1b`,
  },
});
