import { deriveAccount } from '../../../src/chain/safeAccount';
import type { OrganizationState } from '../../../src/domain/governance';
import { accountIn } from '../../../src/signer/account';
import { anAddress } from '../../support/builders';

const ID = 'acc_1';
const owner = anAddress();
const other = anAddress();
const expected = deriveAccount(owner, ID);

const keystore = { organizationKey: () => ({ address: owner }) } as unknown as Parameters<
  typeof accountIn
>[0]['keystore'];

function found(sealed: string, recorded?: string) {
  const state = { accounts: { [ID]: { id: ID, address: sealed, networkIds: [1] } } };
  return accountIn({ keystore }, state as unknown as OrganizationState, {
    ...{ organizationId: 'org_1', accountId: ID, networkId: 1 },
    ...(recorded === undefined ? {} : { accountAddress: recorded }),
  });
}

it('is what its key and id determine', () => {
  expect(found(expected.address)).toBe(expected);
  expect(found(expected.address, expected.address)).toBe(expected);
});

it.each<[string, string | undefined, string]>([
  [other, undefined, `sealed at ${other}`],
  [other, expected.address, `sealed at ${other}`],
  [expected.address, other, `recorded at ${other}`],
])('is refused with the address that differs: sealed at %s, recorded at %s', (sealed, recorded, what) => {
  expect(() => found(sealed, recorded)).toThrow(
    `account ${ID} is ${what}, and its key and id determine ${expected.address}`,
  );
});
