import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Before,
  hashesOf,
  type Intent,
  type Known,
  type Pin,
  pinInMemory,
  statementOf,
  verify,
} from '@orgwallet/client';
import fc from 'fast-check';
import { hashDomain, keccak256, stringToHex, type TypedDataDefinition } from 'viem';
import { canonicalJson as canonicalJsonOfClient } from '../../../client/src/canonicalJson';
import { hashTypedPayload } from '../../../src/chain/typedData';
import { canonicalJson, type JsonValue } from '../../../src/domain/canonicalJson';
import { signedDataText } from '../../../src/domain/signedData';
import { type TransactionToSign, transactionPayload } from '../../../src/domain/signing';
import { readContent } from '../../../src/domain/transactionContent';
import { type TransactionFacts, transactionSummary } from '../../../src/domain/transactionText';
import { aHash, anAddress, anId } from '../../support/builders';
import { changedPayloads, refusedField } from '../../support/changedPayload';
import { transferData } from '../../support/transactions';

const vectors = JSON.parse(readFileSync(join(__dirname, '../../../docs/vectors.json'), 'utf8'));
const NATIVE_CURRENCY = `0x${'0'.repeat(40)}`;
const inAWeek = () => new Date(Math.floor(Date.now() / 1_000 + 604_800) * 1_000);

const POLICY = {
  id: anId('pol'),
  name: 'Payroll',
  type: 'AUTO_APPROVAL',
  transactionType: 'TOKEN_TRANSFER',
  networkId: 1,
  accountIds: null,
  accounts: [],
  initiatorSetting: null,
  tokenTransferCondition: {
    tokenAddress: NATIVE_CURRENCY,
    tokenSymbol: 'ETH',
    tokenName: 'Ether',
    tokenDecimals: 18,
    amountThreshold: '1',
    destinationAddresses: [],
  },
};

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
      ...(isKnown && token ? { decimals } : {}),
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

/** The decimals of a token that has some. */
const decimalsOf = ({ facts: { token } }: Asked) => (token ? { decimals: token.decimals ?? undefined } : {});

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
  const summary = transactionSummary(content.value, {
    ...others,
    calldata: call.data,
    network: {
      id: intent.networkId,
      name: networkName,
      nativeAsset: { symbol: 'ETH', name: 'Ether', decimals: 18 },
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
            ...decimalsOf(asked),
          };
          const { digest, domainHash, description, typedData } = verify(payloads[vote], intent, known);
          expect(digest).toBe(hashTypedPayload(payloads[vote]));
          expect(domainHash).toBe(hashDomain(typedData as unknown as Parameters<typeof hashDomain>[0]));
          expect(canonicalJson(typedData)).toBe(payloads[vote]);
          expect(description.split('\n').at(-1)).toBe(`until: ${record.expiresAt.toISOString()}`);
          // For somebody else's request the bytes alone are enough, and the decimals of a token.
          expect(verify(payloads[vote], undefined, decimalsOf(asked)).description).toBe(description);
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
          ...decimalsOf(asked),
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
    ['a transaction that it replaces', (s: string) => `${s}\nIn place of the failed ${anId('txn')}`],
    ['more', (s: string) => `${s} and nothing else`],
    ['another line', (s: string) => `${s}\nand nothing else`],
    ['less', (s: string) => s.replace(/\n.*/, '')],
    ['a call', (s: string) => s.replace(/^Send .*\n/, 'Call anything\n')],
  ])('refuses a summary that names %s, also when the whole record does', (_, lie) => {
    const intent = { type: 'transfer', ...where, to: anAddress(), amount: 5n * 10n ** 16n } as const;
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const { initiator } = payloadsOf({ intent, facts });
    const typedData = JSON.parse(initiator);
    const summary = typedData.message.summary.join('\n');
    expect(lie(summary)).not.toBe(summary);
    const message = { ...typedData.message, summary: lie(summary).split('\n') };
    const lying = canonicalJson({ ...typedData, message });
    expect(refusedField(initiator, intent, {})).toBeUndefined();
    expect(refusedField(lying, intent, {})).toBe('message.summary');
  });

  it.each([
    ['ten times the native currency', 'native currency', '0.5', {}],
    ['a thousandth of it', 'native currency', '0.00005', {}],
    ['a malformed number', 'native currency', '0.0.5', {}],
    ['no number', 'native currency', '.', {}],
    ['a number with zeros around it', 'native currency', '00.050', {}],
    ['whole units of a token whose decimals nobody knows', 'token', '0.05', {}],
    ['whole units of a token with other decimals', 'token', '0.05', { decimals: 6 }],
  ])('refuses a summary with %s, also where nobody says what was asked', (_, of, shown, known) => {
    const token = of === 'token' ? anAddress() : undefined;
    const intent = {
      type: 'transfer',
      ...where,
      to: anAddress(),
      amount: 5n * 10n ** 16n,
      ...(token ? { token } : {}),
    } as const;
    const listed = token ? { symbol: 'ETH', name: 'Ether', decimals: 18, logoUrl: null } : null;
    const facts = { token: listed, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const { initiator } = payloadsOf({ intent, facts });
    const lying = initiator.replace('Send 0.05 ', `Send ${shown} `);
    expect(refusedField(initiator, undefined, token ? { decimals: 18 } : {})).toBeUndefined();
    expect(refusedField(lying, undefined, known)).toBe('message.summary');
    // What is native has 18 decimals, whatever somebody says.
    if (!token) {
      expect(refusedField(lying, undefined, { decimals: 17 })).toBe('message.summary');
      expect(refusedField(lying, { ...intent, decimals: 17 }, {})).toBe('message.summary');
    }
  });

  it('compares the native currency that a call sends', () => {
    const intent = {
      type: 'call',
      ...where,
      to: anAddress(),
      data: '0x12345678',
      value: 10n ** 18n,
    } as const;
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const { initiator } = payloadsOf({ intent, facts });
    expect(refusedField(initiator, undefined, {})).toBeUndefined();
    for (const lie of ['0.1', '10']) {
      const lying = initiator.replace('together with 1 ', `together with ${lie} `);
      expect(refusedField(lying, undefined, {})).toBe('message.summary');
    }
    expect(refusedField(initiator.replace(/, together with 1 \S+ /, ' '), undefined, {})).toBe(
      'message.summary',
    );
  });

  it('refuses native currency beside the token that is sent', () => {
    const intent = { type: 'transfer', ...where, to: anAddress(), token: anAddress(), amount: 1n } as const;
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const { initiator } = payloadsOf({ intent, facts });
    expect(refusedField(initiator, undefined, {})).toBeUndefined();
    const lying = initiator.replace('"value":"0"', `"value":"${10n ** 18n}"`);
    expect(refusedField(lying, undefined, {})).toBe('message.value');
  });

  it('reads what the zero address is sent as native currency, and as no token', () => {
    const intent = { type: 'call', ...where, to: anAddress(), data: '0x12345678', value: 7n } as const;
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const data = transferData(anAddress(), 1n);
    const { initiator } = payloadsOf({ intent, facts });
    const sent = initiator
      .replaceAll(intent.to, NATIVE_CURRENCY)
      .replace('"data":"0x12345678', `"data":"${data}`)
      .replace('0x12345678', data.slice(0, 10))
      .replace(/with[^,"]*,/, 'with 68 bytes of calldata,');
    expect(verify(sent).description).toContain('sends: 0.000000000000000007 of the native currency');
    const lying = sent.replace('"amount":"7"', '"amount":"1"');
    expect(refusedField(lying, undefined, {})).toBe('message.amount');
  });

  it('refuses characters in a summary that are not seen or turn its direction', () => {
    const intent = { type: 'transfer', ...where, to: anAddress(), amount: 1n } as const;
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const { initiator } = payloadsOf({ intent, facts });
    for (const unseen of ['\u202e', '\u200b', '\u2066', '\u00ad']) {
      const lying = initiator.replace('Treasury', `Trea${unseen}sury`);
      expect(refusedField(lying, intent, {})).toBe('message.summary');
    }
  });

  it('refuses another account than the one that was shown', () => {
    const intent = { type: 'transfer', ...where, to: anAddress(), amount: 1n } as const;
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const { initiator } = payloadsOf({ intent, facts });
    expect(refusedField(initiator, undefined, { account: where.account })).toBeUndefined();
    expect(refusedField(initiator, undefined, { account: anAddress() })).toBe('domain.verifyingContract');
  });

  it.each([
    ['a digit too few', { to: '0x8ba1f109551bD432803012645Ac136ddd64DBA7' }, /^to: invalid address "0x8b/],
    ['a wrong checksum', { to: '0x8ba1f109551bD432803012645Ac136ddd64DBa72' }, /^to: invalid address "0x8b/],
    ['a number as an address', { to: '5' }, /^to: invalid address "5"/],
    ['a token that is not an address', { token: '0x5' }, /^token: invalid address "0x5"/],
    ['no amount', { amount: '' }, /^amount: invalid amount ""/],
    ['a negative amount', { amount: -5n }, /^amount: invalid amount "-5"/],
    ['an amount that does not fit', { amount: 2n ** 256n }, /^amount: invalid amount "115/],
    ['a hexadecimal amount', { amount: '0x10' }, /^amount: invalid amount "0x10"/],
    ['a rounded amount', { amount: 1e18 as never }, /^amount: invalid amount "1000/],
  ])('refuses to ask for a transfer with %s', (_, of, message) => {
    const right = { type: 'transfer', ...where, to: anAddress(), token: anAddress(), amount: 1n } as const;
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const { initiator } = payloadsOf({ intent: right, facts });
    const asked = () => verify(initiator, { ...right, ...of });
    expect(asked).toThrow(TypeError);
    expect(asked).toThrow(message);
  });

  it.each([[null], [''], [0], [{}], [{ type: 'toString' }]])(
    'refuses the intent %j, which asks for nothing',
    (intent) => {
      const right = { type: 'transfer', ...where, to: anAddress(), amount: 1n } as const;
      const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
      const { initiator } = payloadsOf({ intent: right, facts });
      expect(() => verify(initiator, intent as never)).toThrow(TypeError);
    },
  );

  it('refuses bytes that programs read in two ways', () => {
    const right = { type: 'call', ...where, to: anAddress(), data: '0x12345678' } as const;
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const { initiator } = payloadsOf({ intent: right, facts });
    expect(refusedField(initiator.replace('0x12345678', '0X12345678'), right, {})).toBe('message.data');
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
    'refuses %j, which is not a payload',
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

/** The payload of a proposal that can be signed now. */
function currentProposal(resourceType: string, action: string, data: object, summary = 'A change'): string {
  const typedData = JSON.parse(vectors.statements[0].payload);
  const expiresAt = String(Math.floor(inAWeek().getTime() / 1_000));
  const message = {
    ...typedData.message,
    resourceType,
    action,
    summary: summary.split('\n'),
    data: signedDataText(data as JsonValue),
    expiresAt,
  };
  return canonicalJson({ ...typedData, message });
}

describe('an intent that its caller has mistaken', () => {
  const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
  const intent = { type: 'transfer', ...where, to: anAddress(), amount: 1n } as const;
  const { initiator } = payloadsOf({ intent, facts });

  it.each<[string, object]>([
    ['account', { account: anId('acc') }],
    ['networkId', { networkId: String(where.networkId) }],
    ['policyId', { policyId: anAddress() }],
    ['replaces', { replaces: 'the last one' }],
    ['to', { to: anId('mem') }],
    ['token', { token: 'USDC' }],
  ])('%s of a payment is not a difference, which looks like an attack, but a TypeError', (_, change) => {
    const mistaken = { ...intent, ...change } as typeof intent;
    expect(() => verify(initiator, mistaken)).toThrow(TypeError);
  });

  it.each<[string, Intent]>([
    [
      'items[0].walletAddress',
      { type: 'members.create', items: [{ name: 'A', walletAddress: anId('mem') }] },
    ],
    ['ids[0]', { type: 'members.remove', ids: [anAddress()] }],
    [
      'items[0].networkIds[0]',
      { type: 'accounts.create', items: [{ name: 'A', networkIds: ['1' as never] }] },
    ],
    [
      'items[0].memberUpdates[0].id',
      {
        type: 'groups.update',
        items: [{ id: anId('grp'), memberUpdates: [{ action: 'addMember', id: 'Alice' }] }],
      },
    ],
  ])('%s of a change is a TypeError as well', (field, change) => {
    const { type } = change;
    const [resource = '', action = ''] = type.split('.');
    const payload = currentProposal(resource, action, {});
    expect(() => verify(payload, change)).toThrow(TypeError);
    expect(() => verify(payload, change)).toThrow(`${field}: invalid value`);
  });
});

describe('the pin of an organization', () => {
  const [{ payload }] = vectors.statements;
  const { organization } = JSON.parse(payload).message;
  const { salt } = JSON.parse(payload).domain;
  const current = currentProposal('accounts', 'create', {
    items: [{ id: anId('acc'), name: 'Treasury', address: anAddress(), networkIds: [1] }],
  });

  it('is made by the first payload, and holds for all later ones', () => {
    const pins = pinInMemory();
    verify(current, undefined, { pins });
    expect(pins.get(organization)).toEqual({ organization, salt });
    const other = aHash();
    expect(refusedField(current.replace(salt, other), undefined, { pins })).toBe('domain.salt');
    const elsewhere = current.replace(organization, anId('org'));
    expect(refusedField(elsewhere, undefined, { pins })).toBe('message.organization');
    expect(refusedField(elsewhere.replace(salt, other), undefined, { pins })).toBe('message.organization');
    expect(refusedField(current, undefined, { pins })).toBeUndefined();
  });

  it('is of the organization that the payload names, and that was meant', () => {
    const pins = new Map<string, Pin>();
    const store = {
      get: (id: string) => pins.get(id),
      set: (pin: Pin) => void pins.set(pin.organization, pin),
    };
    verify(current, undefined, { pins: store, organization });
    expect([...pins.keys()]).toEqual([organization]);
    expect(refusedField(current, undefined, { pins: store, organization: anId('org') })).toBe(
      'message.organization',
    );
    expect(refusedField(current.replace(salt, aHash()), undefined, { pins: store, organization })).toBe(
      'domain.salt',
    );
  });

  it('can be known before', () => {
    const pins = pinInMemory({ organization, salt: aHash() });
    expect(refusedField(current, undefined, { pins })).toBe('domain.salt');
  });
});

describe('the description of a payload', () => {
  it('shows what cannot be seen, and says what is without limit', () => {
    const payload = currentProposal('policies', 'create', {
      policies: [{ ...POLICY, name: 'a\u202eb\n' }],
    });
    const lines = verify(payload).description.split('\n');
    expect(lines.slice(1, 3)).toEqual([
      `organization: "${JSON.parse(payload).message.organization}"`,
      'change: "policies" "create"',
    ]);
    expect(lines).toEqual(
      expect.arrayContaining([
        'policies[0].accountIds: any, WITHOUT LIMIT',
        'policies[0].tokenTransferCondition.destinationAddresses: any',
        String.raw`policies[0].name: "a\u202eb\n"`,
      ]),
    );
  });

  it('says of each of many what it says of a few', () => {
    const items = Array.from({ length: 3 }, () => ({ ...MEMBER, walletAddress: anAddress() }));
    const { description } = verify(currentProposal('members', 'create', { items }));
    for (const [i, { walletAddress }] of items.entries()) {
      expect(description).toContain(`items[${i}].walletAddress: "${walletAddress}"`);
    }
  });

  it('says what a call and a transfer do', () => {
    const facts = { token: null, replaces: null, call: null, network: 'Local', account: 'Treasury' };
    const [to, token] = [anAddress(), anAddress()];
    const lines = (intent: Asked['intent']) => verify(payloadsOf({ intent, facts }).initiator).description;
    expect(lines({ type: 'transfer', ...where, to, amount: 5n * 10n ** 16n })).toContain(
      `sends: 0.05 of the native currency (with 18 decimals)\nto: ${to}`,
    );
    expect(lines({ type: 'transfer', ...where, to, amount: 7n, token })).toContain(
      `sends: 7 of the smallest unit of the token ${token}\nto: ${to.toLowerCase()}`,
    );
    const called = lines({ type: 'call', ...where, to, data: '0x095ea7b3ff', value: 0n });
    expect(called).toContain(`call: ${to}\nfunction: 0x095ea7b3\ncalldata: 0x095ea7b3ff`);
    expect(called).not.toContain(NATIVE_CURRENCY);
  });
});

const MEMBER = {
  id: anId('mem'),
  name: 'Alice',
  type: 'user',
  walletAddress: anAddress(),
  walletKind: 'key',
};
const RULE = {
  contractAddress: anAddress(),
  allowedFunctions: ['transfer(address,uint256)', '0x095ea7b3'],
  functions: [{ name: 'transfer', selector: '0xa9059cbb' }, { selector: '0x095ea7b3' }],
  maxValue: '0',
};
const CALLS = {
  ...POLICY,
  transactionType: 'CONTRACT_INTERACTION',
  contractInteractionCondition: [RULE],
  tokenTransferCondition: undefined,
};
const called = (rule: object) => ({
  policies: [{ ...CALLS, contractInteractionCondition: [{ ...RULE, ...rule }] }],
});
const any = { ...POLICY, transactionType: 'ANY', tokenTransferCondition: undefined };
const moderated = (setting: object, type = 'MANUAL_APPROVAL') => ({
  policies: [{ ...any, type, approverSetting: { excludeInitiator: false, ...setting } }],
});
const json = (data: object) => JSON.parse(JSON.stringify(data));

describe('the data of a proposal', () => {
  const eve = anId('mem');

  it.each([
    ['members', 'create', { items: [MEMBER] }],
    ['members', 'remove', { items: [{ ...MEMBER, revision: 3 }] }],
    ['groups', 'create', { items: [{ id: anId('grp'), name: 'A', memberIds: [eve] }] }],
    ['groups', 'delete', { items: [{ id: anId('grp'), revision: 1, name: 'A', members: [MEMBER] }] }],
    ['policies', 'update', { policies: [{ ...any, revision: 2 }, POLICY, CALLS] }],
    ['policies', 'create', moderated({ type: 'user', memberId: eve, userId: eve })],
    ['policies', 'create', moderated({ type: 'group', groupId: anId('grp'), threshold: 2 })],
    ['accounts', 'update', { items: [{ id: anId('acc'), revision: 1, networkIds: [1] }] }],
    ['admins', 'update', { revision: 1, members: [MEMBER], threshold: 1 }],
  ])('of %s %s has the fields of its kind', (resourceType, action, data) => {
    const { change } = verify(currentProposal(resourceType, action, json(data)));
    expect(change).toEqual({ resourceType, action, data: json(data) });
  });

  it.each([
    [
      'another list beside the one that counts',
      'policies',
      'create',
      { items: [], policies: [any] },
      'items',
    ],
    [
      'members beside the ids of a new group',
      'groups',
      'create',
      { items: [{ id: anId('grp'), name: 'A', memberIds: [eve], members: [MEMBER] }] },
      'items[0].members',
    ],
    [
      'ids beside the members of a group',
      'groups',
      'update',
      { items: [{ id: anId('grp'), revision: 1, name: 'A', members: [], memberIds: [eve] }] },
      'items[0].memberIds',
    ],
    ['a field of a member', 'members', 'create', { items: [{ ...MEMBER, wallet: 'x' }] }, 'items[0].wallet'],
    [
      'a condition of another kind of policy',
      'policies',
      'create',
      { policies: [{ ...POLICY, transactionType: 'ANY' }] },
      'policies[0].tokenTransferCondition',
    ],
    [
      'a field named as one of every object',
      'admins',
      'update',
      { revision: 1, members: [MEMBER], threshold: 1, toString: {} },
      'toString',
    ],
    [
      'another user than its member',
      'policies',
      'create',
      moderated({ type: 'user', memberId: eve, userId: anId('mem') }),
      'policies[0].approverSetting.userId',
    ],
    [
      'an approver that has no part in it',
      'policies',
      'create',
      moderated({ type: 'group', groupId: anId('grp'), threshold: 1 }, 'AUTO_APPROVAL'),
      'policies[0].approverSetting',
    ],
    [
      'a function with the selector of another one',
      'policies',
      'create',
      called({ functions: [{ name: 'transfer', selector: '0x095ea7b3' }, RULE.functions[1]] }),
      'policies[0].contractInteractionCondition[0].functions[0].selector',
    ],
    [
      'a function that is not among those that were allowed',
      'policies',
      'create',
      called({ allowedFunctions: ['transfer(address,uint256)'] }),
      'policies[0].contractInteractionCondition[0].functions[1]',
    ],
    ...[-2, 256, 1e9].map((tokenDecimals): [string, string, string, object, string] => [
      `${tokenDecimals} decimals of a token`,
      'policies',
      'create',
      {
        policies: [
          {
            ...POLICY,
            tokenTransferCondition: {
              ...POLICY.tokenTransferCondition,
              tokenAddress: RULE.contractAddress,
              tokenDecimals,
            },
          },
        ],
      },
      'policies[0].tokenTransferCondition.tokenDecimals',
    ]),
    [
      'a function of a selector whose name is a sentence',
      'policies',
      'create',
      called({
        functions: [RULE.functions[0], { name: 'mint (0x40c10f19), burn', selector: '0x095ea7b3' }],
      }),
      'policies[0].contractInteractionCondition[0].functions[1].name',
    ],
    ...[
      'mint (0x40c10f19) of 0x1, approve(uint256)',
      'mint',
      '0x095ea7b3 or less',
      'mint(address\u200b)',
    ].map((entry): [string, string, string, object, string] => [
      `a function that is none (${entry})`,
      'policies',
      'create',
      called({
        allowedFunctions: [entry],
        functions: [
          entry.startsWith('0x')
            ? { selector: entry }
            : {
                name: entry.slice(0, entry.indexOf('(')),
                selector: keccak256(stringToHex(entry)).slice(0, 10),
              },
        ],
      }),
      'policies[0].contractInteractionCondition[0].allowedFunctions[0]',
    ]),
    [
      'other decimals of the native currency',
      'policies',
      'create',
      {
        policies: [
          { ...POLICY, tokenTransferCondition: { ...POLICY.tokenTransferCondition, tokenDecimals: 21 } },
        ],
      },
      'policies[0].tokenTransferCondition.tokenDecimals',
    ],
    [
      'an account that it is not of',
      'policies',
      'create',
      { policies: [{ ...any, accounts: [{ id: anId('acc'), name: 'Petty cash', address: anAddress() }] }] },
      'policies[0].accounts[0]',
    ],
  ])('with %s is refused', (_, resourceType, action, data, field) => {
    const payload = currentProposal(resourceType, action, json(data));
    expect(refusedField(payload, undefined, {})).toBe(`message.data.${field}`);
  });

  it('of an unknown kind is refused', () => {
    for (const [resourceType = '', action = ''] of [
      ['wallets', 'create'],
      ['admins', 'create'],
      ['members', 'toString'],
    ]) {
      expect(refusedField(currentProposal(resourceType, action, {}), undefined, {})).toBe('message.action');
    }
  });
});

describe('the rest of a change', () => {
  const bob = { ...MEMBER, id: anId('mem'), name: 'Bob', walletAddress: anAddress() };

  it("is what the intent does not name: those who are admins already, and everybody's wallet", () => {
    const payload = currentProposal('admins', 'update', {
      revision: 4,
      members: [MEMBER, bob].sort((one, two) => (one.id < two.id ? -1 : 1)),
      threshold: 1,
    });
    const admins = { members: [MEMBER, bob], threshold: 2 } as Before['admins'];
    const before = { admins, members: [MEMBER, bob] } as Before;
    const { rest } = verify(payload, { type: 'admins.update', updates: [], threshold: 1 }, { before });
    for (const { id, name, walletAddress } of [MEMBER, bob]) {
      for (const text of [id, name, walletAddress]) expect(rest.join()).toContain(`"${text}"`);
    }
    expect(rest.join()).not.toMatch(/threshold|revision/);
  });

  it('has the wallet of a member of whom only the name was to change', () => {
    const item = {
      id: MEMBER.id,
      revision: 1,
      name: 'Alicia',
      walletAddress: bob.walletAddress,
      walletKind: 'key',
    };
    const payload = currentProposal('members', 'update', { items: [item] }, 'Update "Alicia"');
    const before = { members: [{ ...MEMBER, walletAddress: bob.walletAddress }] } as Before;
    const intent = { type: 'members.update', items: [{ id: MEMBER.id, name: 'Alicia' }] } as const;
    const asked = intent as unknown as Intent;
    expect(verify(payload, asked, { before }).rest).toEqual([
      `items[0].walletAddress: "${bob.walletAddress}"`,
      'items[0].walletKind: "key"',
    ]);
    expect(verify(payload).rest).toHaveLength(5);
  });
});
