import fc from 'fast-check';
import { eventTypes } from '../../../src/domain/eventTypes';
import type { FeedEntry } from '../../../src/domain/feedEvent';
import { type Incoming, moneyInNotice } from '../../../src/notices/moneyInNotice';
import { occasionOf } from '../../../src/notices/occasions';
import { concerns, type RequestNow, requestNotice } from '../../../src/notices/requestNotice';
import { concernsSafety, securityNotice } from '../../../src/notices/securityNotice';
import { aHash, aMember, anAddress } from '../../support/builders';

const ada = aMember().named('Ada').build();
const bo = aMember().named('Bo "the\nboss"').build();
const PAGE = 'https://wallet.example.com/requests/txn_1';

const request: RequestNow = {
  id: 'txn_1',
  summary: 'Send 1 "ETH"\nFrom the account "Treasury"',
  expiresAt: new Date('2025-06-08T12:00:00.000Z'),
  closed: false,
  missing: { type: 'approve', needed: 2, members: [ada, bo] },
  failure: null,
  waitingFor: null,
  involved: new Set(['mem_i']),
};
const cy = aMember().named('Cy').build();
const entryOf = (action: string, details: FeedEntry['details'] = {}) => ({
  ...{ action, details },
  actor: { ...cy, type: 'member' as const },
});
const told = (
  occasion: 'asked' | 'reminder' | 'failed' | 'decided',
  action: string,
  of: Partial<RequestNow> = {},
) =>
  requestNotice(occasion, entryOf(action, { reminder: 'half' }), {
    organization: 'Acme',
    request: { ...request, ...of },
    page: PAGE,
  });

describe('an occasion', () => {
  it('is a signature that is wanted, from the creation of a proposal, and from the signature of an initiator', () => {
    expect(occasionOf(entryOf('proposal.created'))).toBe('asked');
    expect(occasionOf(entryOf('transaction.signed', { type: 'initiator' }))).toBe('asked');
    expect(occasionOf(entryOf('transaction.signed', { type: 'approve' }))).toBeNull();
  });

  it('is a sign-in from a new browser, and no other', () => {
    expect(occasionOf(entryOf('session.started', { newBrowser: true }))).toBe('security');
    expect(occasionOf(entryOf('session.started'))).toBeNull();
  });

  it('is none of what this build does not know', () => {
    for (const action of ['member.renamed', 'toString', '']) expect(occasionOf(entryOf(action))).toBeNull();
  });
});

describe('the notice of a request', () => {
  it('asks with what is signed, who is missing and until when', () => {
    expect(told('asked', 'proposal.created')).toEqual({
      title: '2 signatures wanted',
      lines: [
        '"Acme"',
        'Send 1 "ETH"',
        'From the account "Treasury"',
        'Missing: "Ada", "Bo \\"the\\nboss\\""',
        'Expires: 2025-06-08 12:00 UTC',
      ],
      link: PAGE,
    });
    expect(told('reminder', 'proposal.reminded')?.title).toBe(
      '2 signatures missing, and half of the time is over',
    );
    expect(
      told('asked', 'proposal.created', { missing: { type: 'approve', needed: 1, members: [] } })?.lines,
    ).toContain('Missing: nobody may sign it now');
  });

  it('asks for the signature of an initiator who did not request it, and then for the others, once', () => {
    const initiator = { type: 'initiator', needed: 1, members: [ada] } as const;
    const asked = (action: string, missing: RequestNow['missing']) =>
      told('asked', action, { missing })?.title;
    expect(asked('transaction.created', initiator)).toBe('1 signature wanted');
    expect(asked('transaction.created', { ...initiator, members: [cy] })).toBeUndefined();
    expect(asked('transaction.created', request.missing)).toBeUndefined();
    expect(asked('transaction.signed', request.missing)).toBe('2 signatures wanted');
    expect(asked('transaction.signed', initiator)).toBeUndefined();
  });

  it('is none once nothing is missing', () => {
    expect(told('asked', 'proposal.created', { missing: null })).toBeNull();
    expect(told('reminder', 'proposal.reminded', { missing: null })).toBeNull();
  });

  it('says why it failed and what to do, and nothing once it was executed after all', () => {
    const failure = {
      code: 'rpc',
      message: 'no answer\r\nBcc: eve',
      retryable: true,
      resumes: false,
    } as const;
    expect(told('failed', 'transaction.executionFailed', { failure })?.lines.slice(3)).toEqual([
      'Why: no answer\\u000d\\u000aBcc: eve',
      'What to do: Execute it again once the network answers.',
    ]);
    const final = told('failed', 'transaction.executionFailed', {
      failure: { ...failure, retryable: false },
      closed: true,
    });
    expect(final?.lines.at(-1)).toMatch(/cannot be executed again/);
    expect(told('failed', 'transaction.executionFailed', { closed: true })).toBeNull();
  });
});

describe('the own mail of a member', () => {
  it('asks and reminds those who can sign and have not, and tells those of the end who have signed', () => {
    const occasions = ['asked', 'reminder', 'decided', 'failed'] as const;
    const heard = (id: string) => occasions.filter((occasion) => concerns(occasion, request, id));
    expect(heard(ada.id)).toEqual(['asked', 'reminder']);
    expect(heard('mem_i')).toEqual(['decided', 'failed']);
    expect(heard('mem_other')).toEqual([]);
  });

  it('tells admins of everything that is about security, and others of what is about themselves', () => {
    const entry = { actor: { ...bo, type: 'member' as const }, resourceId: ada.id };
    const heard = (id: string, isAdmin: boolean) => concernsSafety(entry, { id, isAdmin });
    expect([heard('mem_x', true), heard('mem_x', false), heard(ada.id, false), heard(bo.id, false)]).toEqual([
      ...[true, false, true, true],
    ]);
  });
});

describe('the notice of what is about security', () => {
  const pageAt = (path: string) => `https://wallet.example.com${path}`;

  it('says what it is about, who did it and with which decision', () => {
    const entry = {
      action: 'policy.updated',
      actor: { ...ada, type: 'member' as const },
      resourceId: 'pol_1',
      details: { before: { name: 'Petty cash' }, after: { name: 'All "cash"' }, proposalId: 'prop_1' },
    };
    expect(securityNotice(entry, { organization: 'Acme', pageAt })).toEqual({
      title: 'Policy changed',
      lines: ['"Acme"', '"All \\"cash\\"" pol_1', 'By: "Ada"', 'Decided with: prop_1'],
      link: 'https://wallet.example.com/policies',
    });
  });

  it('has a title for every action that is about security', () => {
    for (const action of eventTypes) {
      const details = { newBrowser: true, userAgent: 'Firefox' };
      if (occasionOf({ action, details }) !== 'security') continue;
      const entry = { action, details, resourceId: 'x_1', actor: { ...ada, type: 'member' as const } };
      expect([action, securityNotice(entry, { organization: 'Acme', pageAt }).title]).not.toEqual([
        action,
        'Changed',
      ]);
    }
  });

  it('is made of whatever the details are', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...eventTypes),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (action, details) => {
          const entry = {
            ...{ action, resourceId: 'x_1', actor: { ...ada, type: 'operator' as const } },
            details: details as FeedEntry['details'],
          };
          expect(securityNotice(entry, { organization: 'Acme', pageAt }).lines[0]).toBe('"Acme"');
        },
      ),
    );
  });
});

describe('the notice of money in', () => {
  const page = 'https://wallet.example.com/accounts/acc_1';
  const [sender, address, token, hash] = [anAddress(), anAddress(), anAddress(), aHash()];
  const movement = {
    ...{ kind: 'erc20', amount: '1500000', token_address: token, token_id: null, counterparty: sender },
    ...{ transaction_hash: hash, symbol: 'SAYS', decimals: 0, accountName: 'Treasury\n"x"' },
    accountAddress: address,
  } as Incoming['movements'][number];
  const told = (of: Partial<Incoming> = {}) =>
    moneyInNotice(
      {
        ...{ status: 'confirmed', movements: [movement], hasMore: false, network: 'Local' },
        ...{ assetOf: () => undefined, senderOf: () => undefined, ...of },
      },
      { organization: 'Acme', page },
    );
  const known = {
    networkId: 1,
    address: token,
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
    logoUrl: null,
  };

  it('says what, to which account, from whom, on which network; a known asset is called as it is known', () => {
    expect(
      told({
        assetOf: () => known,
        senderOf: () => ({ address: sender, type: 'member', id: 'mem_1', name: 'Bo', networkId: null }),
      }),
    ).toEqual({
      title: 'Money in',
      lines: [
        '"Acme"',
        '1.5 "USDC" to "Treasury\\n\\"x\\""',
        `From: "Bo" (${sender})`,
        `Account: "Treasury\\n\\"x\\"" (${address})`,
        'Network: "Local"',
        `Transaction: ${hash}`,
      ],
      link: page,
    });
    expect(told({ status: 'reversed' })?.title).toMatch(/^Money in reversed/);
  });

  it('names no policy as the sender, and nobody of what was minted', () => {
    const policy = { address: sender, type: 'policy', id: 'pol_1', name: 'Pay', networkId: null } as const;
    expect(told({ senderOf: () => policy })?.lines).toContain(`From: ${sender}`);
    const counterparty = `0x${'0'.repeat(40)}`;
    expect(told({ movements: [{ ...movement, counterparty }] })?.lines).toContain(
      'From: nobody: it was minted',
    );
  });

  it('shows what cannot be divided by its id, and in raw units what has no decimals', () => {
    const about = (of: object) => told({ movements: [{ ...movement, ...of }] })?.lines[1];
    expect(about({ kind: 'erc721', token_id: '12' })).toMatch(/^token 12 of "SAYS" to /);
    expect(about({ kind: 'erc1155', token_id: '12', amount: '3' })).toMatch(/^3 of token 12 of "SAYS" to /);
    expect(about({ decimals: null })).toMatch(/^1500000 raw units of "SAYS" to /);
    expect(about({ symbol: null, decimals: null })).toContain(token.slice(0, 20));
  });

  it('has a line for each of ten, and says how many more there are', () => {
    expect(told({ movements: [] })).toBeNull();
    const many = Array.from({ length: 12 }, () => movement);
    const { lines } = told({ movements: many }) ?? { lines: [] };
    expect([lines[1], lines.length, lines[12]]).toEqual([
      ...['12 transfers to "Treasury\\n\\"x\\""', 15, 'and 2 more'],
    ]);
    const more = told({ movements: many, hasMore: true })?.lines;
    expect([more?.[1], more?.[12]]).toEqual(['more than 12 transfers to "Treasury\\n\\"x\\""', 'and more']);
  });
});
