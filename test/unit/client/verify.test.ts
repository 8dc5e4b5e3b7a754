import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashesOf, type Intent, type Known, pinInMemory, statementOf, verify } from '@orgwallet/client';
import fc from 'fast-check';
import { hashDomain, keccak256, type TypedDataDefinition } from 'viem';
import { canonicalJson as canonicalJsonOfClient } from '../../../client/src/canonicalJson';
import { hashTypedPayload } from '../../../src/chain/typedData';
import { canonicalJson } from '../../../src/domain/canonicalJson';
import { type TransactionToSign, transactionPayload } from '../../../src/domain/signing';
import { readContent } from '../../../src/domain/transactionContent';
import { type TransactionFacts, transactionSummary } from '../../../src/domain/transactionText';
import { aHash, anAddress, anId } from '../../support/builders';
import { changedPayloads, refusedField } from '../../support/changedPayload';
import { transferData } from '../../support/transactions';

const vectors = JSON.parse(readFileSync(join(__dirname, '../../../docs/vectors.json'), 'utf8'));
const NATIVE_CURRENCY = `0x${'0'.repeat(40)}`;
const inAWeek = () => new Date(Math.floor(Date.now() / 1_000 + 604_800) * 1_000);

/** What an account is asked to do, and the texts around it. */
interface Asked {
  readonly intent: Intent & { type: 'transfer' | 'call' };
  readonly facts: Omit<TransactionFacts, 'calldata' | 'account' | 'network'> & {
    network: string;
    account: string;
  };
}

const addresses = fc.integer({ min: 1, max: 2 ** 30 }).map((n) => `0x${n.toString(16).padStart(40, '0')}`);
const amounts = fc.oneof(
  fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }),
  fc.constantFrom(1n, 10n ** 18n, 5n * 10n ** 16n),
);
const names = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constant('" from the account "x" (0x1)'),
);
const where = { account: anAddress(), networkId: 31_337 };

const transfers: fc.Arbitrary<Asked> = fc
  .record({
    token: fc.option(addresses),
    to: addresses,
    amount: amounts,
    decimals: fc.integer({ min: 0, max: 40 }),
    isKnown: fc.boolean(),
    isListed: fc.boolean(),
    network: names,
    account: names,
    symbol: names,
    replaces: fc.option(fc.constant(anId('txn'))),
  })
  .map(({ token, to, amount, decimals, isKnown, isListed, replaces, symbol, ...texts }) => ({
    intent: {
      type: 'transfer',
      ...where,
      to,
      amount,
      ...(token ? { token } : {}),
      ...(isKnown || !token ? { decimals } : {}),
      ...(replaces ? { replaces } : {}),
    },
    facts: {
      ...texts,
      token:
        token && isListed ? { symbol, name: symbol === '' ? null : symbol, decimals, logoUrl: null } : null,
      replaces,
      call: null,
    },
  }));

const calls: fc.Arbitrary<Asked> = fc
  .record({
    to: addresses,
    data: fc
      .uint8Array({ maxLength: 100 })
      .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const),
    value: fc.oneof(fc.constant(0n), amounts),
    isDecoded: fc.boolean(),
    network: names,
    account: names,
    text: names,
  })
  .filter(({ data, value }) => !data.startsWith('0xa9059cbb') && (data !== '0x' || value === 0n))
  .map(({ isDecoded, text, to, data, value, ...texts }) => ({
    intent: { type: 'call', ...where, to, data, value },
    facts: {
      ...texts,
      token: null,
      replaces: null,
      call:
        isDecoded && data.length >= 10
          ? {
              functionName: 'burn',
              functionParameters: [{ name: text === '' ? '' : 'note', type: 'string', value: text }],
            }
          : null,
    },
  }));

/** The payload of what is asked, as the service makes it. */
function payloadsOf({ intent, facts }: Asked) {
  const isToken = intent.type === 'transfer' && intent.token !== undefined;
  const call =
    intent.type === 'call'
      ? { to: intent.to, value: BigInt(intent.value ?? 0), data: intent.data as string }
      : isToken
        ? { to: intent.token ?? '', value: 0n, data: transferData(intent.to, BigInt(intent.amount)) }
        : { to: intent.to, value: BigInt(intent.amount), data: '0x' };
  const content = readContent(call, (address) => address);
  if (!content.ok) throw new Error(content.refusal.message);
  const { network: networkName, account: accountName, ...others } = facts;
  const decimals = intent.type === 'transfer' ? (intent.decimals ?? 18) : 18;
  const summary = transactionSummary(content.value, {
    ...others,
    calldata: call.data,
    network: {
      id: intent.networkId,
      name: networkName,
      nativeAsset: { symbol: 'ETH', name: 'Ether', decimals },
    },
    account: { name: accountName, address: intent.account },
  });
  const record: TransactionToSign = {
    id: anId('txn'),
    accountAddress: intent.account,
    networkId: intent.networkId,
    to: call.to,
    value: call.value,
    calldata: call.data,
    policyId: anId('pol'),
    summary,
    expiresAt: inAWeek(),
  };
  const signature = aHash();
  return {
    record,
    signature,
    initiator: transactionPayload('InitiateTransaction', record, null),
    approve: transactionPayload('ApproveTransaction', record, keccak256(signature)),
    reject: transactionPayload('RejectTransaction', record, keccak256(signature)),
  };
}

describe('verify of a transaction', () => {
  it('accepts what the service makes of any transfer and any call', () => {
    fc.assert(
      fc.property(fc.oneof(transfers, calls), (asked) => {
        const { record, signature: initiatorSignature, ...payloads } = payloadsOf(asked);
        const intent = { ...asked.intent, policyId: record.policyId };
        for (const vote of ['initiator', 'approve', 'reject'] as const) {
          const known: Known = {
            id: record.id,
            vote,
            expiresAt: record.expiresAt.toISOString(),
            initiatorSignature,
          };
          const { digest, domainHash, description, typedData } = verify(payloads[vote], intent, known);
          expect(digest).toBe(hashTypedPayload(payloads[vote]));
          expect(domainHash).toBe(hashDomain(typedData as unknown as Parameters<typeof hashDomain>[0]));
          expect(canonicalJson(typedData)).toBe(payloads[vote]);
          expect(description.split('\n').at(-1)).toBe(`until: ${record.expiresAt.toISOString()}`);
          // For somebody else's request the bytes alone are enough.
          expect(verify(payloads[vote]).description).toBe(description);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('refuses it with any single field changed, and names the field', () => {
    fc.assert(
      fc.property(fc.oneof(transfers, calls), (asked) => {
        const { record, signature: initiatorSignature, approve } = payloadsOf(asked);
        const { id, policyId, summary, expiresAt } = record;
        const known: Known = {
          id,
          vote: 'approve',
          summary,
          expiresAt: expiresAt.toISOString(),
          initiatorSignature,
        };
        for (const { field, payload } of changedPayloads(approve)) {
          expect([field, refusedField(payload, { ...asked.intent, policyId }, known)]).toEqual([
            field,
            field,
          ]);
        }
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ['another amount', (s: string) => s.replace('0.05', '0.5')],
    ['another amount with the same digits', (s: string) => s.replace('0.05', '5')],
    ['another recipient', (s: string) => s.replace(/ to 0x\w{40}/, ` to ${anAddress()}`)],
    ['a token', (s: string) => s.replace('native currency', anAddress())],
    ['another account', (s: string) => s.replace(/\(0x\w{40}\) on/, `(${anAddress()}) on`)],
    ['another network', (s: string) => s.replace('(31337)', '(1)')],
    ['a transaction that it replaces', (s: string) => `${s}, in place of the failed ${anId('txn')}`],
    ['more', (s: string) => `${s} and nothing else`],
    ['a call', (s: string) => s.replace(/^Send .* from/, 'Call anything from')],
  ])('refuses a summary that names %s, also when the whole record does', (_, lie) => {
    const intent = { type: 'transfer', ...where, to: anAddress(), amount: 5n * 10n ** 16n } as const;
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const { initiator } = payloadsOf({ intent, facts });
    const typedData = JSON.parse(initiator);
    const { summary } = typedData.message;
    expect(lie(summary)).not.toBe(summary);
    const lying = canonicalJson({ ...typedData, message: { ...typedData.message, summary: lie(summary) } });
    expect(refusedField(initiator, intent, {})).toBeUndefined();
    expect(refusedField(lying, intent, {})).toBe('message.summary');
  });

  it('refuses one that has expired, or counts for longer than a year', () => {
    const intent = { type: 'transfer', ...where, to: anAddress(), amount: 1n } as const;
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const typedData = JSON.parse(payloadsOf({ intent, facts }).initiator);
    const until = (seconds: number) =>
      canonicalJson({ ...typedData, message: { ...typedData.message, expiresAt: String(seconds) } });
    const now = Math.floor(Date.now() / 1_000);
    expect(refusedField(until(now - 1), intent, {})).toBe('message.expiresAt');
    expect(refusedField(until(now + 400 * 86_400), intent, {})).toBe('message.expiresAt');
    expect(refusedField(until(now + 60), intent, {})).toBeUndefined();
  });
});

describe('statementOf', () => {
  interface Vector {
    readonly payload: string;
    readonly digest: string;
    readonly domainSeparator?: string;
    readonly structHash: string;
  }
  const all: Vector[] = [...vectors.statements, ...vectors.transactionStatements];

  it('computes the hashes of docs/signatures.md', () => {
    expect(all.length).toBeGreaterThanOrEqual(6);
    for (const { payload, digest, structHash } of all) {
      const statement = statementOf(payload);
      expect(hashesOf(statement)).toMatchObject({ digest, messageHash: structHash });
      expect(statement.typedData).toEqual(JSON.parse(payload) as TypedDataDefinition);
    }
  });

  it.each(['', 'null', '[]', '{}', '"ApproveProposal"', '{"primaryType":"toString"}'])(
    'refuses %j, which is no payload',
    (text) => {
      expect(() => statementOf(text)).toThrow(expect.objectContaining({ code: 'payloadMismatch' }));
    },
  );

  it('refuses a text that could be read in two ways', () => {
    const [{ payload = '' } = {}] = all;
    const doubled = payload.replace('"message":{', '"message":{"summary":"harmless",');
    expect(() => statementOf(doubled)).toThrow(/^payload: /);
    expect(() => statementOf(` ${payload}`)).toThrow(/^payload: /);
    const more = canonicalJson({ ...JSON.parse(payload), more: 1 });
    expect(() => statementOf(more)).toThrow(/^more: 1 \(expected nothing\)$/);
  });

  it('writes canonical JSON as the service does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJsonOfClient(JSON.parse(JSON.stringify(value)))).toBe(
          canonicalJson(JSON.parse(JSON.stringify(value))),
        );
      }),
    );
  });
});

describe('the pin of an organization', () => {
  const [{ payload }] = vectors.statements;
  const { organization } = JSON.parse(payload).message;
  const { salt } = JSON.parse(payload).domain;
  const current = canonicalJson({
    ...JSON.parse(payload),
    message: { ...JSON.parse(payload).message, expiresAt: String(Math.floor(inAWeek().getTime() / 1_000)) },
  });

  it('is made by the first payload, and holds for all later ones', () => {
    const pins = pinInMemory();
    verify(current, undefined, { pins });
    expect(pins.get()).toEqual({ organization, salt });
    const other = aHash();
    expect(refusedField(current.replace(salt, other), undefined, { pins })).toBe('domain.salt');
    const elsewhere = current.replace(organization, anId('org'));
    expect(refusedField(elsewhere, undefined, { pins })).toBe('message.organization');
    expect(refusedField(elsewhere.replace(salt, other), undefined, { pins })).toBe('message.organization');
    expect(refusedField(current, undefined, { pins })).toBeUndefined();
  });

  it('can be known before', () => {
    const pins = pinInMemory({ organization, salt: aHash() });
    expect(refusedField(current, undefined, { pins })).toBe('domain.salt');
  });
});

describe('the description of a payload', () => {
  it('shows what cannot be seen, and says what is without limit', () => {
    const typedData = JSON.parse(vectors.statements[0].payload);
    const data = canonicalJson({
      policies: [{ name: 'a\u202eb\n', accountIds: null, destinationAddresses: [] }],
      '\u202e\nuntil': 1,
    });
    const expiresAt = String(Math.floor(inAWeek().getTime() / 1_000));
    const payload = canonicalJson({ ...typedData, message: { ...typedData.message, data, expiresAt } });
    expect(verify(payload).description.split('\n').slice(1, -1)).toEqual([
      `organization: "${typedData.message.organization}"`,
      'change: "accounts" "create"',
      'policies[0].accountIds: any, WITHOUT LIMIT',
      'policies[0].destinationAddresses: any',
      String.raw`policies[0].name: "a\u202eb\n"`,
      String.raw`"\u202e\nuntil": 1`,
    ]);
  });

  it('says what a call and a transfer do', () => {
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const [to, token] = [anAddress(), anAddress()];
    const lines = (intent: Asked['intent']) => verify(payloadsOf({ intent, facts }).initiator).description;
    expect(lines({ type: 'transfer', ...where, to, amount: 5n * 10n ** 16n })).toContain(
      `sends: 0.05 of the native currency (50000000000000000 of its smallest unit, with 18 decimals)\nto: ${to}`,
    );
    expect(lines({ type: 'transfer', ...where, to, amount: 7n, token })).toContain(
      `sends: 7 of the smallest unit of the token ${token}\nto: ${to.toLowerCase()}`,
    );
    const called = lines({ type: 'call', ...where, to, data: '0x095ea7b3ff', value: 0n });
    expect(called).toContain(`call: ${to}\nfunction: 0x095ea7b3\ncalldata: 0x095ea7b3ff`);
    expect(called).not.toContain(NATIVE_CURRENCY);
  });
});
