import fc from 'fast-check';
import type { MemberSummary } from '../../../src/domain/approval';
import { tally } from '../../../src/domain/approvalState';
import { missingVotes } from '../../../src/domain/missingVotes';
import { proposalRules } from '../../../src/domain/proposal';
import { transactionRules } from '../../../src/domain/transaction';
import { checkVote } from '../../../src/domain/voting';
import { adminsOf, aMember, aProposal } from '../../support/builders';
import { aTransaction, aTransactionNow } from '../../support/transactionRecords';
import { aPolicy } from '../../support/transactions';

const byId = (members: readonly MemberSummary[]) =>
  [...members].sort((one, two) => (one.id < two.id ? -1 : 1));
const people = byId(['Ada', 'Bo', 'Chidi', 'Dee'].map((name) => aMember().named(name).build()));
const time = new Date('2025-06-02T12:00:00.000Z');
const subset = fc.subarray([...people]);

describe('the missing signatures of a proposal', () => {
  const adminsNow = (threshold: number) => ({ time, admins: { members: people, threshold } });

  it('are those of the admins who have not signed, while too few have', () => {
    fc.assert(
      fc.property(subset, subset, fc.integer({ min: 1, max: 4 }), (approve, reject, threshold) => {
        const record = aProposal()
          .approvedBy(...approve)
          .rejectedBy(...reject)
          .build();
        const missing = missingVotes(proposalRules, record, adminsNow(threshold));
        const isDecided = approve.length >= threshold || reject.length >= threshold;
        const open = people.filter((one) => !approve.includes(one) && !reject.includes(one));
        expect(missing).toEqual(
          isDecided ? null : { type: 'approve', needed: threshold - approve.length, members: open },
        );
        for (const member of missing?.members ?? []) {
          expect(checkVote(proposalRules, record, adminsNow(threshold), { member, type: 'approve' })).toEqual(
            {
              ok: true,
              value: 'new',
            },
          );
        }
      }),
    );
  });

  it('are none once it is decided, in progress or expired', () => {
    const now = adminsOf(...people).at(time);
    const record = aProposal().build();
    expect(missingVotes(proposalRules, record, now)?.needed).toBe(2);
    expect(missingVotes(proposalRules, { ...record, executionStatus: 'processing' }, now)).toBeNull();
    const finalTally = tally(proposalRules, record, now);
    expect(missingVotes(proposalRules, { ...record, closed: true, finalTally }, now)).toBeNull();
    const late = { ...now, time: new Date(record.expiresAt.getTime() + 1) };
    expect(missingVotes(proposalRules, record, late)).toBeNull();
  });
});

describe('the missing signatures of a transaction', () => {
  const [ada, bo, chidi] = people as [MemberSummary, MemberSummary, MemberSummary];

  it('begin with that of its initiator, then those of its approvers', () => {
    const policy = aPolicy({
      type: 'MANUAL_APPROVAL',
      approverSetting: { type: 'group', groupId: 'grp_1', threshold: 1, excludeInitiator: false },
    });
    const now = aTransactionNow(ada).grouped('grp_1', bo, chidi).under(policy).build();
    const created = aTransaction().by(ada).under(policy);
    expect(missingVotes(transactionRules, created.build(), now)).toEqual({
      ...{ type: 'initiator', needed: 1, members: [ada] },
    });
    const initiated = created.initiated();
    expect(missingVotes(transactionRules, initiated.build(), now)).toEqual({
      type: 'approve',
      needed: 1,
      members: [bo, chidi],
    });
    expect(missingVotes(transactionRules, initiated.approvedBy(bo).build(), now)).toBeNull();
  });
});
