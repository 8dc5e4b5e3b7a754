import { hashTypedData, keccak256, stringToHex } from 'viem';
import type { Note } from '../../../src/domain/approval';
import { tally } from '../../../src/domain/approvalState';
import { networkNote } from '../../../src/domain/networkNotes';
import { NATIVE_CURRENCY } from '../../../src/domain/policy';
import { type TransactionRecord, transactionRules } from '../../../src/domain/transaction';
import { transactionView } from '../../../src/domain/transactionView';
import { aFailure, aHash, aMember, anId } from '../../support/builders';
import { aTransaction, aTransactionNow } from '../../support/transactionRecords';
import { aPolicy } from '../../support/transactions';

const ada = aMember().build();
const bo = aMember().build();
const SIGNED = aHash();
const EXPIRY = new Date('2025-06-08T12:00:00.000Z');
const OVER = new Date('2025-06-08T12:00:00.001Z');
const groupId = anId('grp');
const manual = aPolicy({
  type: 'MANUAL_APPROVAL',
  approverSetting: { type: 'group', groupId, threshold: 2, excludeInitiator: false },
});

const transaction = () => aTransaction().by(ada).under(manual).expiringAt(EXPIRY);
const world = () => aTransactionNow(ada, bo).under(manual).grouped(groupId, ada, bo);
const now = world().build();

/** The payloads in a view, as what is signed: primary type and message. */
function signed(text: string | undefined) {
  const { primaryType, message, domain } = JSON.parse(text ?? 'null');
  return { primaryType, message, domain };
}

function nulls(value: unknown, path = ''): string[] {
  if (value === null) return [path];
  if (typeof value !== 'object') return [];
  return Object.entries(value as object).flatMap(([key, inner]) => nulls(inner, `${path}.${key}`));
}

// biome-ignore lint/suspicious/noExplicitAny: what is shown depends on the status
const show = (record: TransactionRecord, then = now): any => transactionView(record, then);

describe('a transaction as the API shows it', () => {
  it('shows a new one with exactly the fields of the contract', () => {
    const record = transaction().having({ description: 'Rent' }).build();
    const view = show(record);
    const { initiatorPayload } = view.signingPayloads;
    expect(view).toEqual({
      id: record.id,
      accountId: record.accountId,
      networkId: 31337,
      description: 'Rent',
      type: 'TOKEN_TRANSFER',
      to: record.to,
      value: '1',
      calldata: '0x',
      summary: record.summary,
      metadata: {},
      tags: [],
      initiator: ada,
      policy: { id: manual.id, threshold: 2 },
      signatureStatus: 'pendingInitiatorSignature',
      executionStatus: null,
      threshold: 2,
      approvals: [],
      rejections: [],
      signingPayloads: { initiatorPayload },
      signatureData: { status: 'pendingInitiatorSignature', initiatorPayload },
      data: record.content,
      notes: [],
      createdAt: '2025-06-01T12:00:00.000Z',
      updatedAt: '2025-06-01T12:00:00.000Z',
      expiresAt: '2025-06-08T12:00:00.000Z',
    });
    expect(signed(initiatorPayload)).toEqual({
      primaryType: 'InitiateTransaction',
      domain: {
        name: 'orgwallet',
        version: '1',
        chainId: 31337,
        verifyingContract: record.accountAddress,
      },
      message: {
        transactionId: record.id,
        recipient: record.to,
        token: NATIVE_CURRENCY,
        amount: '1',
        to: record.to,
        value: '1',
        data: '0x',
        policyId: manual.id,
        summary: record.summary.split('\n'),
        expiresAt: '1749384000',
      },
    });
  });

  it('shows what approves and rejects once its initiator has signed, bound to that signature', () => {
    const record = transaction().initiated(SIGNED).approvedBy(bo).build();
    const view = show(record);
    expect(view).toMatchObject({
      signatureStatus: 'pendingReviewSignatures',
      threshold: 2,
      approvals: [bo],
      signatureData: { status: 'pendingReviewSignatures', ...view.signingPayloads },
    });
    expect(Object.keys(view.signingPayloads)).toEqual(['approvePayload', 'rejectPayload']);
    const { approvePayload, rejectPayload } = view.signingPayloads;
    expect(signed(approvePayload)).toMatchObject({
      primaryType: 'ApproveTransaction',
      message: { transactionId: record.id, initiatorSignatureHash: SIGNED },
    });
    expect(signed(rejectPayload)).toMatchObject({
      primaryType: 'RejectTransaction',
      message: { transactionId: record.id, initiatorSignatureHash: SIGNED },
    });
    const digests = [approvePayload, rejectPayload].map((text) => hashTypedData(JSON.parse(text)));
    expect(new Set(digests).size).toBe(2);
  });

  it('asks the initiator to sign again once their wallet is another', () => {
    const record = transaction().initiated(SIGNED).approvedBy(bo).build();
    const moved = { ...ada, walletAddress: aMember().build().walletAddress };
    expect(show(record, world().with(moved).build())).toMatchObject({
      signatureStatus: 'pendingInitiatorSignature',
      approvals: [],
      signingPayloads: { initiatorPayload: expect.any(String) },
    });
  });

  it('shows nothing that is kept for the service alone, and null only where it is allowed', () => {
    const record = transaction()
      .initiated()
      .inState('failed')
      .failedWith(aFailure())
      .noted({ at: '2025-06-02T12:00:00.000Z', code: 'memberRemoved', message: 'gone' })
      .build();
    const view = show(record);
    for (const field of [
      'organizationId',
      'accountAddress',
      'votes',
      'version',
      'finalTally',
      'closed',
      'cancelling',
    ]) {
      expect(view).not.toHaveProperty(field);
    }
    expect(nulls(view)).toEqual(['.data.asset.logoUrl']);
    expect(view.failure).toEqual({ ...record.failure, retryable: true, resumes: false });
    expect(view.notes).toHaveLength(1);
  });

  it('says of a failure whether it continues by itself: while its relayer is awaited and enough votes count', () => {
    const awaiting = (change: Partial<TransactionRecord> = {}) =>
      transaction()
        .initiated()
        .approvedBy(ada)
        .approvedBy(bo)
        .inState('failed')
        .failedWith(aFailure({ code: 'relayerFunds' }))
        .having({ awaitsRelayerWei: 7n, ...change })
        .build();
    const flags = (record: TransactionRecord, then = now) => {
      const { retryable, resumes } = show(record, then).failure;
      return [retryable, resumes];
    };
    expect(flags(awaiting())).toEqual([true, true]);
    expect(flags(awaiting(), world().without(bo).build())).toEqual([true, false]);
    expect(flags(awaiting({ awaitsRelayerWei: null }))).toEqual([true, false]);
    expect(flags(awaiting({ signerOutcome: 'rejected' }))).toEqual([true, false]);
    expect(flags(awaiting(), world().at(OVER).build())).toEqual([false, false]);
    const { networkId } = awaiting();
    const [gone, back] = [true, false].map((isGone) => ({
      at: '2025-06-02T12:00:00.000Z',
      ...networkNote('transaction', networkId, isGone),
    })) as [Note, Note];
    expect(flags(awaiting({ notes: [gone] }))).toEqual([true, false]);
    expect(flags(awaiting({ notes: [gone, back] }))).toEqual([true, true]);
    expect(flags(awaiting({ notes: [gone, back, gone] }))).toEqual([true, false]);
    expect(flags(awaiting({ closed: true }))).toEqual([false, false]);
  });

  it.each<[string, TransactionRecord, string[]]>([
    ['approved', transaction().initiated().approvedBy(ada, bo).build(), ['approvePayload', 'rejectPayload']],
    ['failed', transaction().initiated().inState('failed').build(), ['approvePayload', 'rejectPayload']],
    ['blocked', transaction().initiated().inState('blocked').build(), ['approvePayload', 'rejectPayload']],
    ['new', transaction().build(), ['initiatorPayload']],
  ])('can be signed while it is %s', (_, record, payloads) => {
    expect(Object.keys(show(record).signingPayloads)).toEqual(payloads);
  });

  it('cannot be signed while it is executed, but shows what was', () => {
    const view = show(transaction().initiated(SIGNED).approvedBy(ada, bo).inState('processing').build());
    expect(view).not.toHaveProperty('signingPayloads');
    expect(signed(view.signatureData.approvePayload).message.initiatorSignatureHash).toBe(SIGNED);
  });

  it('shows no payload once it has expired, and all of them until then', () => {
    const record = transaction().initiated().build();
    const expired = show(record, world().at(OVER).build());
    expect(expired.signatureStatus).toBe('expired');
    expect(expired.signatureData).toEqual({ status: 'expired' });
    expect(expired).not.toHaveProperty('signingPayloads');
    expect(show(record, world().at(EXPIRY).build())).toHaveProperty('signingPayloads');
  });

  it('shows what it did on chain, its result, and the votes of then once it is over', () => {
    const open = transaction().initiated(SIGNED).approvedBy(ada, bo);
    const frozen = tally(transactionRules, open.build(), now);
    const hash = aHash();
    const record = open
      .inState('completed')
      .closedAs(frozen)
      .having({
        chain: { transactionHash: hash, submittedAt: new Date('2025-06-03T12:00:00.000Z'), confirmations: 3 },
        result: { resolution: 'approved', transactionHash: hash, blockNumber: 7 },
      })
      .build();
    const moved = { ...ada, name: 'Another', walletAddress: aMember().build().walletAddress };
    const view = show(record, world().with(moved).without(bo).at(OVER).build());
    expect(view).toMatchObject({
      signatureStatus: 'approvalReady',
      executionStatus: 'completed',
      initiator: ada,
      approvals: frozen.approvals,
      chain: { transactionHash: hash, submittedAt: '2025-06-03T12:00:00.000Z', confirmations: 3 },
      result: { resolution: 'approved', transactionHash: hash, blockNumber: 7 },
    });
    expect(view).not.toHaveProperty('signingPayloads');
    expect(signed(view.signatureData.rejectPayload).message.initiatorSignatureHash).toBe(SIGNED);
  });

  it('shows the payloads of then for one that was executed before the initiator got another wallet', () => {
    const open = transaction().initiated(SIGNED).approvedBy(ada, bo);
    const moved = { ...ada, walletAddress: aMember().build().walletAddress };
    const frozen = { ...tally(transactionRules, open.build(), now), initiator: moved };
    const view = show(open.inState('completed').closedAs(frozen).build());
    expect(signed(view.signatureData.approvePayload).message.initiatorSignatureHash).toBe(SIGNED);
  });

  it('shows a result only of what was executed', () => {
    const left = transaction()
      .initiated()
      .having({ result: { resolution: 'approved' } });
    expect(show(left.inState('processing').build())).not.toHaveProperty('result');
    expect(show(left.inState('failed').build())).not.toHaveProperty('result');
  });

  it('carries the whole calldata in what is signed', () => {
    const calldata = `0x${'ab'.repeat(1_000)}`;
    const { signingPayloads } = show(
      transaction()
        .having({ calldata, value: 2n ** 256n - 1n })
        .build(),
    );
    const { message } = signed(signingPayloads.initiatorPayload);
    expect(keccak256(stringToHex(message.data))).toBe(keccak256(stringToHex(calldata)));
    expect(message.value).toBe(String(2n ** 256n - 1n));
  });
});
