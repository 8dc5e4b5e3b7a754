import fc from 'fast-check';
import {
  concat,
  encodeAbiParameters,
  type Hex,
  hashTypedData,
  keccak256,
  parseAbiParameters,
  recoverAddress,
  recoverTypedDataAddress,
  stringToBytes,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { hashTypedPayload } from '../../../src/chain/typedData';
import {
  type ProposalStatement,
  proposalPayload,
  type TransactionStatement,
  type TransactionToSign,
  transactionPayload,
} from '../../../src/domain/signing';
import { aHash, anAddress } from '../../support/builders';

const STATEMENTS: readonly TransactionStatement[] = [
  'InitiateTransaction',
  'ApproveTransaction',
  'RejectTransaction',
];
const VOTES: readonly TransactionStatement[] = ['ApproveTransaction', 'RejectTransaction'];
const BEGUN = `0x${'ab'.repeat(32)}`;
/** The first funded key of local chains, which is public. */
const wallet = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');

const TRANSACTION: TransactionToSign = {
  id: 'txn_01jwnqv8x0e1tvn5c9k3b7h2ma',
  accountAddress: '0x8ba1f109551bD432803012645Ac136ddd64DBA72',
  networkId: 31_337,
  to: '0x468f18d57bC8bAE33874e6429638edf9F6F77c41',
  value: 0n,
  calldata: `0xa9059cbb${'0'.repeat(24)}70997970c51812dc3a010c7d01b50e0d17dc79c8${'0'.repeat(63)}5`,
  policyId: 'pol_01jwnqv8x0e1tvn5c9k3b7h2mb',
  summary: 'Send 0.000005 "USDC" to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8\nFrom the account "A"',
  expiresAt: new Date('2025-06-08T12:00:00.000Z'),
};

const payloadOf = (
  statement: TransactionStatement,
  change: Partial<TransactionToSign> = {},
  begun: string = BEGUN,
) => {
  const bound = statement === 'InitiateTransaction' ? null : begun;
  return transactionPayload(statement, { ...TRANSACTION, ...change }, bound);
};

const FIELDS =
  'string transactionId,address recipient,address token,uint256 amount,address to,uint256 value,bytes data,string policyId,string[] summary,uint256 expiresAt';
const fieldsOf = (statement: TransactionStatement) =>
  statement === 'InitiateTransaction' ? FIELDS : `${FIELDS},bytes32 initiatorSignatureHash`;

function golden(statement: TransactionStatement): string {
  const bound = statement === 'InitiateTransaction' ? '' : `"initiatorSignatureHash":"${BEGUN}",`;
  const shape = (list: string) =>
    `[${list
      .split(',')
      .map((field) => field.split(' '))
      .map(([type, name]) => `{"name":"${name}","type":"${type}"}`)
      .join(',')}]`;
  return (
    `{"domain":{"chainId":31337,"name":"orgwallet","verifyingContract":"0x8ba1f109551bD432803012645Ac136ddd64DBA72","version":"1"},` +
    `"message":{"amount":"5","data":"0xa9059cbb00000000000000000000000070997970c51812dc3a010c7d01b50e0d17dc79c8` +
    `0000000000000000000000000000000000000000000000000000000000000005","expiresAt":"1749384000",${bound}` +
    `"policyId":"pol_01jwnqv8x0e1tvn5c9k3b7h2mb","recipient":"0x70997970c51812dc3a010c7d01b50e0d17dc79c8",` +
    String.raw`"summary":["Send 0.000005 \"USDC\" to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8","From the account \"A\""],` +
    `"to":"0x468f18d57bC8bAE33874e6429638edf9F6F77c41","token":"0x468f18d57bC8bAE33874e6429638edf9F6F77c41","transactionId":"txn_01jwnqv8x0e1tvn5c9k3b7h2ma","value":"0"},` +
    `"primaryType":"${statement}","types":{${[
      `"EIP712Domain":${shape('string name,string version,uint256 chainId,address verifyingContract')}`,
      `"${statement}":${shape(fieldsOf(statement))}`,
    ]
      .sort()
      .join(',')}}}`
  );
}

const DIGESTS: Record<TransactionStatement, Hex> = {
  InitiateTransaction: '0x109fd0e51914fa418855069ff0c57c240e58a8152a587187382bc77822148855',
  ApproveTransaction: '0x96b1caa2fed72784bf3b42bc3c8e16761cfcb19b1ff0e5e4c62d29939ec03032',
  RejectTransaction: '0x7a097bfdc6a58f6a5e68ab2016f20320a00b7dc960d9db27ed92f7fb2f4bdcda',
};

const hashOf = (text: string): Hex => keccak256(stringToBytes(text));

/** Who receives what, read from the bytes a second time: recipient, token and raw amount. */
function spentBy({ to, value, calldata }: TransactionToSign): readonly [Hex, Hex, bigint] {
  const native = '0x0000000000000000000000000000000000000000';
  if (!calldata.startsWith('0xa9059cbb')) return [to as Hex, native, value];
  return [`0x${calldata.slice(34, 74)}`, to as Hex, BigInt(`0x${calldata.slice(74)}`)];
}

/** The EIP-712 digest, worked out from the standard by hand, as a contract would. */
function digest(statement: TransactionStatement, tx: TransactionToSign, begun: string): Hex {
  const domain = keccak256(
    encodeAbiParameters(parseAbiParameters('bytes32, bytes32, bytes32, uint256, address'), [
      hashOf('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
      hashOf('orgwallet'),
      hashOf('1'),
      BigInt(tx.networkId),
      tx.accountAddress as Hex,
    ]),
  );
  const message = encodeAbiParameters(
    parseAbiParameters(
      'bytes32, bytes32, address, address, uint256, address, uint256, bytes32, bytes32, bytes32, uint256',
    ),
    [
      hashOf(`${statement}(${fieldsOf(statement)})`),
      hashOf(tx.id),
      ...spentBy(tx),
      tx.to as Hex,
      tx.value,
      keccak256(tx.calldata as Hex),
      hashOf(tx.policyId),
      keccak256(concat(tx.summary.split('\n').map(hashOf))),
      BigInt(Math.floor(tx.expiresAt.getTime() / 1_000)),
    ],
  );
  const bound = statement === 'InitiateTransaction' ? message : concat([message, begun as Hex]);
  return keccak256(concat(['0x1901', domain, keccak256(bound)]));
}

describe('what is signed about a transaction', () => {
  it.each(STATEMENTS)('is, for %s, exactly this text with this digest', (statement) => {
    expect(payloadOf(statement)).toBe(golden(statement));
    expect(hashTypedPayload(payloadOf(statement))).toBe(DIGESTS[statement]);
    expect(digest(statement, TRANSACTION, BEGUN)).toBe(DIGESTS[statement]);
  });

  it.each(STATEMENTS)(
    'declares, for %s, one type of fixed fields besides the domain, and no field that it does not declare',
    (statement) => {
      const payload = JSON.parse(payloadOf(statement));
      expect(payload.primaryType).toBe(statement);
      expect(Object.keys(payload.types).sort()).toEqual(['EIP712Domain', statement].sort());
      for (const [values, type] of [
        [payload.message, statement],
        [payload.domain, 'EIP712Domain'],
      ]) {
        const names: string[] = payload.types[type].map(({ name }: { name: string }) => name);
        expect(Object.keys(values).sort()).toEqual([...names].sort());
      }
    },
  );

  it.each(STATEMENTS)('is, for %s, what a wallet signs: its signature is the signer’s', async (statement) => {
    const payload = payloadOf(statement);
    const parsed = JSON.parse(payload);
    expect(hashTypedData(parsed)).toBe(hashTypedPayload(payload));
    const signature = await wallet.signTypedData(parsed);
    expect(await recoverTypedDataAddress({ ...parsed, signature })).toBe(wallet.address);
    expect(await recoverAddress({ hash: hashTypedPayload(payload), signature })).toBe(wallet.address);
    for (const other of STATEMENTS.filter((known) => known !== statement)) {
      const hash = hashTypedPayload(payloadOf(other));
      expect(await recoverAddress({ hash, signature })).not.toBe(wallet.address);
    }
  });

  it('is the same to a wallet whatever its text holds and however large its numbers are', () => {
    const hex = fc.uint8Array({ maxLength: 100 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
    const transaction = fc.record({
      id: fc.string({ unit: 'grapheme' }),
      accountAddress: fc.constant(0).map(anAddress),
      networkId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      to: fc.constant(0).map(anAddress),
      value: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.constant(2n ** 256n - 1n)),
      calldata: hex,
      policyId: fc.string({ unit: 'grapheme' }),
      summary: fc.string({ unit: 'grapheme' }),
      expiresAt: fc.integer({ min: 0, max: 4_102_444_800_000 }).map((time) => new Date(time)),
    });
    fc.assert(
      fc.property(
        transaction,
        fc.constantFrom(...STATEMENTS),
        fc.constant(0).map(aHash),
        (tx, what, begun) => {
          const payload = payloadOf(what, tx, begun);
          expect(hashTypedData(JSON.parse(payload))).toBe(digest(what, tx, begun));
          expect(hashTypedPayload(payload)).toBe(digest(what, tx, begun));
          const { message } = JSON.parse(payload);
          expect(message).toMatchObject({
            summary: tx.summary.split('\n'),
            value: String(tx.value),
            data: tx.calldata,
          });
          expect(Number(message.expiresAt)).toBe(Math.floor(tx.expiresAt.getTime() / 1_000));
        },
      ),
    );
  });
});

describe('a signature on a transaction', () => {
  it.each<[string, Partial<TransactionToSign>]>([
    ['transaction', { id: 'txn_01jwnqv8x0e1tvn5c9k3b7h2mc' }],
    ['account', { accountAddress: anAddress() }],
    ['network', { networkId: 31_338 }],
    ['recipient', { to: anAddress() }],
    ['calldata', { calldata: `${TRANSACTION.calldata.slice(0, -1)}6` }],
    ['absence of calldata', { calldata: '0x' }],
    ['leading zero of calldata', { calldata: '0x00' }],
    ['policy', { policyId: 'pol_01jwnqv8x0e1tvn5c9k3b7h2mc' }],
    ['summary', { summary: `${TRANSACTION.summary} ` }],
    ['expiry', { expiresAt: new Date('2025-06-08T12:00:01.000Z') }],
  ])('is for one %s', (_, change) => {
    for (const statement of STATEMENTS) {
      expect(hashTypedPayload(payloadOf(statement, change))).not.toBe(hashTypedPayload(payloadOf(statement)));
    }
  });

  it('is for one value', () => {
    for (const statement of STATEMENTS) {
      const [one, two] = [1n, 2n].map((value) => payloadOf(statement, { value, calldata: '0x' }));
      expect(hashTypedPayload(one ?? '')).not.toBe(hashTypedPayload(two ?? ''));
    }
  });

  it('is never made of bytes whose effect is unknown', () => {
    const malformed = { calldata: TRANSACTION.calldata.slice(0, -2) };
    expect(() => payloadOf('InitiateTransaction', malformed)).toThrow('is malformed');
  });

  it('to approve or reject is for one signature of the initiator', () => {
    for (const statement of VOTES) {
      const other = payloadOf(statement, {}, `0x${'ab'.repeat(31)}ac`);
      expect(hashTypedPayload(other)).not.toBe(hashTypedPayload(payloadOf(statement)));
    }
  });

  it('to initiate, to approve and to reject are three things', () => {
    const digests = STATEMENTS.map((statement) => hashTypedPayload(payloadOf(statement)));
    expect(new Set(digests).size).toBe(3);
  });

  it('is bound to the signature of the initiator, and that of the initiator to none', () => {
    expect(() => transactionPayload('InitiateTransaction', TRANSACTION, BEGUN)).toThrow('bound to no');
    for (const statement of VOTES) {
      expect(() => transactionPayload(statement, TRANSACTION, null)).toThrow('needs the signature');
    }
  });

  it('differs in nothing but the name of the type between approving and rejecting', () => {
    const asRejection = payloadOf('ApproveTransaction').replaceAll('ApproveTransaction', 'RejectTransaction');
    expect(JSON.parse(asRejection)).toEqual(JSON.parse(payloadOf('RejectTransaction')));
  });

  it('covers nothing that changes while it is collected', () => {
    const stored = { ...TRANSACTION, version: 7, executionStatus: 'failed', votes: [], notes: ['x'] };
    for (const statement of STATEMENTS) expect(payloadOf(statement, stored)).toBe(payloadOf(statement));
  });

  it('is never one on a proposal, whatever that says', () => {
    const salt = aHash();
    const proposals = (['ApproveProposal', 'RejectProposal', 'InitiateProposal'] as ProposalStatement[]).map(
      (statement) =>
        proposalPayload(statement, salt, {
          id: TRANSACTION.id,
          organizationId: 'org_01jwnqv8x0e1tvn5c9k3b7h2ma',
          resourceType: 'accounts',
          action: 'create',
          summary: TRANSACTION.summary,
          data: {},
          expiresAt: TRANSACTION.expiresAt,
        }),
    );
    const digests = [...proposals, ...STATEMENTS.map((statement) => payloadOf(statement))].map(
      hashTypedPayload,
    );
    expect(new Set(digests).size).toBe(6);
  });

  it('is for every second its own, and for none later than its expiry', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (time) => {
        const { message } = JSON.parse(payloadOf('InitiateTransaction', { expiresAt: new Date(time) }));
        expect(Number(message.expiresAt) * 1_000).toBeLessThanOrEqual(time);
        expect(Number(message.expiresAt) * 1_000).toBeGreaterThan(time - 1_000);
      }),
    );
  });

  it('is the same for two transactions only when every field is the same', () => {
    const transaction = fc.record({
      id: fc.constantFrom('a', 'b', 'a"'),
      accountAddress: fc.constantFrom(TRANSACTION.accountAddress, TRANSACTION.to),
      networkId: fc.constantFrom(1, 2, 12),
      to: fc.constantFrom(TRANSACTION.accountAddress, TRANSACTION.to),
      value: fc.constantFrom(0n, 1n, 12n),
      calldata: fc.constantFrom('0x', '0x00', '0x0000'),
      policyId: fc.constantFrom('a', 'b', 'a"'),
      summary: fc.constantFrom('', 'a', 'a\na', '","to":"', 'a"', 'a","a'),
      expiresAt: fc.constantFrom(new Date(1_000), new Date(2_000)),
    });
    const signed = fc.tuple(fc.constantFrom(...STATEMENTS), transaction);
    const text = ([statement, tx]: [TransactionStatement, TransactionToSign]) =>
      JSON.stringify([statement, { ...tx, value: String(tx.value) }]);
    fc.assert(
      fc.property(signed, signed, (left, right) => {
        expect(payloadOf(...left) === payloadOf(...right)).toBe(text(left) === text(right));
      }),
      { numRuns: 500 },
    );
  });
});
