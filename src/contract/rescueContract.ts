import { z } from 'zod';
import {
  accountName,
  address,
  adminThreshold,
  idOf,
  memberName,
  networkId,
  timestamp,
  walletKind,
} from '../domain/schemas';
import { endpoint } from './endpoint';
import { networkName } from './networkContract';
import { dataResponse } from './primitives';

const bytes = z.string().meta({ description: 'Bytes as 0x hex.', examples: ['0x8d80ff0a'] });
const gas = z.string().meta({ description: 'Gas to send it with: more than it uses.', examples: ['330000'] });

const takeover = z
  .object({
    accounts: z.array(address),
    to: address.meta({ description: 'MultiSendCallOnly 1.4.1.' }),
    value: z.literal('0'),
    data: bytes,
    operation: z.int().meta({ description: '1: a delegatecall.' }),
    safeTxGas: z.literal('0'),
    gas,
  })
  .meta({
    id: 'Takeover',
    description: "A transaction of the admins' Safe that makes it the owner of accounts.",
  });

const builderFile = z.record(z.string(), z.unknown()).meta({
  id: 'TransactionBuilderFile',
  description: "A takeover as a file for Safe's Transaction Builder: save it as it is.",
});

const rescueKit = z
  .object({
    type: z.literal('orgwallet-rescue-kit'),
    version: z.int(),
    createdAt: timestamp,
    organization: z.object({
      id: z.string().meta({ examples: ['org_01jz8k3v5fe5ht0n2m6w9r4xyz'] }),
      name: z.string(),
    }),
    sequence: z.int().meta({ description: 'The number of decisions of which it is.' }),
    signingKey: address.meta({ description: 'It owns the accounts.' }),
    sealKey: address.meta({ description: 'It has signed `head`.' }),
    keeper: address.meta({ description: "The Safe that keeps the owners of the admins' Safe." }),
    adminsSafe: address.meta({ description: 'A module of each account.' }),
    admins: z.object({
      threshold: adminThreshold,
      members: z.array(z.object({ id: idOf('mem'), name: memberName, walletAddress: address, walletKind })),
    }),
    networks: z.array(
      z
        .object({
          networkId,
          name: networkName,
          accounts: z.array(z.object({ id: idOf('acc'), name: accountName, address })),
          takeovers: z.array(takeover),
          transactionBuilder: z.array(builderFile),
        })
        .meta({ id: 'RescueKitNetwork' }),
    ),
    head: z
      .object({
        state: z.string().meta({ description: 'JSON of what the admins have decided.' }),
        sealHash: z.string().meta({ description: 'Hash of the latest seal.' }),
        signature: z.string().meta({ description: 'Of the seal key, over the state.' }),
      })
      .meta({ id: 'SealedHead' }),
  })
  .meta({
    id: 'RescueKit',
    description: 'What the admins need to take the accounts over without this service. It has no secret.',
  });

/** The kit as it is sent. */
export type RescueKitBody = z.infer<typeof rescueKit>;

export const getRescueKitEndpoint = endpoint({
  id: 'getRescueKit',
  tag: 'Admins',
  method: 'get',
  path: '/rescue-kit',
  access: 'read',
  summary: 'Get the rescue kit',
  description:
    'Returns what a quorum of the admins needs to take the accounts over without this service: addresses and calls, no secret. ' +
    "404 while the admins' Safe is off.",
  params: {},
  query: z.strictObject({}),
  response: dataResponse(rescueKit),
  status: 200,
  errors: ['notFound'],
});
