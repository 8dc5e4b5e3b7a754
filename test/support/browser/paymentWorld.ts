import { change, makeAccount, type Shown } from '../api';
import { anAnyPolicyItem, aPolicyItem, aTokenCondition } from '../policies';
import type { TestOrganization, TestService } from '../service';
import { fundOnLocalChain, sharedStack } from '../stack';
import { makePolicies } from '../transactionApi';

/** 1 ETH in a day, whoever pays whom. */
const BUDGET = {
  tokenTransferCondition: aTokenCondition({ amountThreshold: '1000000000000000000' }),
  limitation: {
    hours: 24,
    initiatorScope: 'ALL_ITEMS',
    sourceAccountScope: 'ALL_ITEMS',
    destinationScope: 'ALL_ITEMS',
  },
};

/** An organization that pays: an account with money, and policies with and without approvers. */
export interface PaymentWorld {
  readonly org: TestOrganization;
  readonly treasury: Shown;
  /** Transfers of native currency at once, 1 ETH in a day. */
  readonly atOnce: Shown;
  /** Any transaction, by two of Alice, Bob and Carol. */
  readonly byTwo: Shown;
}

/** Makes one, with threshold 2 for proposals. */
export async function makePaymentWorld({ createOrganization, http }: TestService): Promise<PaymentWorld> {
  const org = await createOrganization();
  const treasury = await makeAccount(http, org, { name: 'Treasury', networkIds: [31337] });
  const [chain] = sharedStack().chains;
  await fundOnLocalChain(chain?.rpcUrl ?? '', treasury.address);
  const made = await change(http, org, '/groups/proposals/create', {
    items: [{ name: 'Finance', memberIds: [org.alice, org.bob, org.carol].map(({ id }) => id) }],
  });
  const groupId = made.result.resources[0].id;
  const [atOnce, byTwo] = await makePolicies(
    http,
    org,
    aPolicyItem({ name: 'Small payments', ...BUDGET }),
    anAnyPolicyItem({
      name: 'Reviewed payments',
      type: 'MANUAL_APPROVAL',
      approverSetting: { type: 'group', groupId, threshold: 2 },
    }),
  );
  return { org, treasury, atOnce, byTwo };
}
