import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { SignerContext } from '../../../src/signer/signerContext';
import { anAddress } from '../../support/builders';

type Seal = typeof import('../../../src/signer/seal');

const PROPOSALS = '../../../src/signer/store/proposalsToSeal';
const NEXT_SEAL = '../../../src/signer/store/nextSeal';
const findProposalToSeal = jest.fn();
let sealProposal: Seal['sealProposal'];

// Modules are shared by the files of a worker: this one has its own.
beforeAll(() => {
  jest.isolateModules(() => {
    jest.doMock(PROPOSALS, () => ({ findProposalToSeal }));
    jest.doMock(NEXT_SEAL, () => ({ storeNextSeal: () => Promise.resolve(true) }));
    ({ sealProposal } = jest.requireActual<Seal>('../../../src/signer/seal'));
  });
  jest.dontMock(PROPOSALS);
  jest.dontMock(NEXT_SEAL);
});

const OWN = 'org_01jz8k3v5fe5ht0n2m6w9r4xya';
const OTHER = 'org_01jz8k3v5fe5ht0n2m6w9r4xyb';
const ID = 'prp_01jz8k3v5fe5ht0n2m6w9r4xya';
const sealKey = (id: string) => privateKeyToAccount(`0x${id === OWN ? '1' : '2'}${'1'.repeat(63)}`);

it('the record of another organization is not sealed, though the database gives it for the own one', async () => {
  const wallet = anAddress();
  const admin = {
    id: 'usr_1',
    name: 'A',
    type: 'human',
    walletAddress: wallet,
    walletKind: 'key',
    revision: 1,
  };
  const state = {
    ...{ id: OWN, domainSalt: `0x${'1'.repeat(64)}`, sequence: 7 },
    members: { usr_1: admin },
    admins: { id: 'adm_1', threshold: 1, memberIds: ['usr_1'], revision: 1 },
  };
  const vote = { memberId: 'usr_1', type: 'reject', signerAddress: wallet, scheme: 'eoa', signature: '0x' };
  const expiresAt = new Date(Date.now() + 60_000);
  findProposalToSeal.mockResolvedValue({
    sealed: undefined,
    readAt: new Date(),
    record: {
      ...{ id: ID, organizationId: OTHER, summary: 'x', data: {} },
      ...{ resourceType: 'accounts', action: 'create', expiresAt, votes: [vote] },
      ...{ executionStatus: 'processing', decision: 'reject' },
    } as never,
  });
  const appended: unknown[] = [];
  const context = {
    db: {},
    proposalLifetimeMs: 3_600_000,
    clock: { now: () => new Date(), assertInStep: () => undefined },
    journal: {
      cutoffOf: () => undefined,
      append: async (entry: unknown) => void appended.push(entry),
    },
    keystore: {
      sealKey: (id: string) => ({
        address: sealKey(id).address,
        sign: ({ hash }: { hash: Hex }) => sealKey(id).sign({ hash }),
      }),
    },
    identifyVoter: async () => ({ ok: true }),
    readSealedState: Object.assign(
      async () => ({ state, stored: { organizationId: OWN, sequence: 7, sealHash: '0x7', signature: 's' } }),
      { remember: () => undefined },
    ),
    upkeep: { wake: () => undefined },
    logger: { warn: () => undefined },
    countRefusal: () => undefined,
  } as unknown as SignerContext;
  expect(await sealProposal(context, { organizationId: OWN, id: ID })).toEqual({
    refused: { code: 'stale', message: `proposal ${ID} not found` },
  });
  expect(appended).toEqual([]);
});
