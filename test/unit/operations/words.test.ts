import { describeMembers, membersDiffer } from '../../../src/operations/members';
import { listed, operationSummary } from '../../../src/operations/words';
import { aMember, anAddress, aState } from '../../support/builders';

const numbers = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1));

describe('a list in a sentence', () => {
  it('is whole when it is short', () => {
    expect(listed([], ', ')).toBe('');
    expect(listed(numbers(10), ' ')).toBe('1 2 3 4 5 6 7 8 9 10');
  });

  it('says how many more there are when it is long', () => {
    expect(listed(numbers(12), ' ')).toBe('1 2 3 4 5 6 7 8 9 10 and 2 more');
  });

  it('counts what happens to several things', () => {
    expect(operationSummary('Remove', 'member', [['A']])).toBe('Remove member A');
    expect(operationSummary('Remove', 'policy', [['A'], ['B', 'b']])).toBe('Remove 2 policies\nA\nB\nb');
  });
});

describe('members in words', () => {
  it('have quoted names, so that a name cannot be read as a part of the sentence', () => {
    const member = aMember().named('Eve" (0x0), "Bob').build();
    expect(describeMembers([member])).toEqual([`"Eve\\" (0x0), \\"Bob" (${member.walletAddress})`]);
  });
});

describe('members that a proposal shows', () => {
  const [ada, bo] = [aMember().named('Ada').build(), aMember().named('Bo').build()];

  it('are as it says, whoever else there is', () => {
    expect(membersDiffer(aState([ada, bo]), [ada])).toBeUndefined();
    expect(membersDiffer(aState([ada]), [])).toBeUndefined();
  });

  it('have another name', () => {
    expect(membersDiffer(aState([{ ...ada, name: 'Eva' }]), [ada])).toBe(
      `member "Eva" (${ada.id}), of type user, is shown as "Ada", of type user`,
    );
  });

  it('are gone', () => {
    expect(membersDiffer(aState([bo]), [ada, bo])).toBe(
      `member "Ada" (${ada.id}, ${ada.walletAddress}) has left the organization`,
    );
  });

  it('have another wallet', () => {
    const moved = { ...ada, name: 'Eva', walletAddress: anAddress() };
    expect(membersDiffer(aState([moved]), [ada])).toBe(
      `member "Eva" (${ada.id}) now has the wallet ${moved.walletAddress}, not ${ada.walletAddress}`,
    );
  });

  it('differ in more than one way', () => {
    const moved = { ...bo, walletAddress: anAddress() };
    expect(membersDiffer(aState([moved]), [ada, bo])?.split('; ')).toHaveLength(2);
  });
});
