import { z } from 'zod';
import { checksumAddress } from '../chain/address';
import { endpoint } from './endpoint';
import { address, addressInput, envelope, timestamp } from './primitives';

const walletAddress = addressInput(checksumAddress).meta({
  description: 'The wallet address of a member: in one case or with a right checksum (EIP-55).',
  examples: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
});

export const getRegistrationPayloadEndpoint = endpoint({
  id: 'getRegistrationPayload',
  tag: 'Members',
  method: 'get',
  path: '/members/registrations/payload',
  access: 'read',
  summary: 'Get a text with which a member proves control of their wallet',
  description:
    'Each call makes a new text. It names organization, address, nonce and time, and works once, for 10 minutes. ' +
    'The newest 10 of a wallet count.',
  params: {},
  query: z.strictObject({ walletAddress }),
  response: envelope(
    z
      .object({
        messageToSign: z.string().meta({ description: 'Signed as it is (EIP-191, `personal_sign`).' }),
      })
      .meta({ id: 'RegistrationPayload' }),
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
    'Grants nothing by itself and is not needed to sign. A second proof keeps the first `registeredAt`; ' +
    'a changed address sets it to null.',
  params: {},
  query: z.strictObject({}),
  body: z.strictObject({
    walletAddress,
    signature: z.string().meta({
      description:
        '0x hex of the signature of `messageToSign` itself: 65 bytes (EIP-191), or what a contract wallet accepts ' +
        '(EIP-1271). It is not wrapped with the address, as the signatures of proposals are.',
    }),
  }),
  response: envelope(
    z
      .object({
        walletAddress: address,
        registered: z.literal(true),
        registeredAt: timestamp.meta({ description: 'When control of the wallet was first proved.' }),
      })
      .meta({ id: 'Registration' }),
  ),
  status: 200,
  errors: ['invalidSignature'],
  exampleBody: { walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', signature: '0x…' },
});
