import type { Approval } from '@orgwallet/client';
import { headline } from '../../../console/src/text/headline.ts';

const NAMES = {
  account: (id: string) => (id === 'acc_1' ? 'Treasury' : undefined),
  network: () => undefined,
  owner: () => undefined,
  noted: () => undefined,
};
const changeOf = (item: object) =>
  ({ resourceType: 'accounts', action: 'update', data: { items: [item] } }) as unknown as Approval;

describe('the line of a change of an account', () => {
  it.each([
    ['its new name', { id: 'acc_1', name: 'Savings' }, 'Change account “Savings”'],
    ['its name where that stays', { id: 'acc_1', networkIds: [31338] }, 'Change account “Treasury”'],
    ['its id where nothing else is known', { id: 'acc_2', networkIds: [31338] }, 'Change account “acc_2”'],
  ])('says %s', (_, item, line) => {
    expect(headline(changeOf(item), NAMES)).toBe(line);
  });
});
