/** @deep */

import { change, propose, proposeChange, type Shown } from '../support/api';
import { violationsEverywhere } from '../support/browser/axe';
import { lie } from '../support/browser/network';
import {
  button,
  permitAnybody,
  section,
  signaturesOn,
  untilNotSignable,
  untilOn,
  untilShown,
} from '../support/browser/page';
import { type Site, siteForTests } from '../support/browser/site';
import { anAddress } from '../support/builders';
import { aPolicyItem, aTokenCondition } from '../support/policies';
import type { TestMember, TestOrganization } from '../support/service';
import { itDeep } from '../support/suite';

let site: Site;
let org: TestOrganization;

siteForTests(async (opened) => {
  site = opened;
  org = await site.api.createOrganization();
});

/** Opens a request on somebody's page. */
const open = (member: TestMember, { id }: Shown) => site.signedIn(member, `/requests/${id}`);

describe('a proposal', () => {
  it('waits for those who can sign it, is approved by one and executed by the next', async () => {
    const proposal = await propose(site.api.http, org, { name: 'Operations' });
    const alice = await site.signedIn(org.alice);
    await alice.page.getByRole('link', { name: 'Create account “Operations”' }).click();
    await button(alice, 'Approve: 1 more after yours').waitFor();
    expect(await violationsEverywhere(alice.page)).toEqual([]);
    await button(alice, 'Approve: 1 more after yours').click();
    await untilShown(alice, '1 of 2 approvals');
    expect(alice.wallet.typedData).toEqual([proposal.signingPayloads.approvePayload]);
    expect(await signaturesOn(alice)).toContain('Alice: approved');

    const bob = await open(org.bob, proposal);
    await button(bob, 'Approve and execute').click();
    await untilShown(bob, 'It was executed as it was signed.');
    expect(await signaturesOn(bob)).toEqual(expect.arrayContaining(['Alice: approved', 'Bob: approved']));
  });

  it('shows the lines that are signed, and says what hardware wallets cut or do not take', async () => {
    const items = Array.from({ length: 100 }, (_, i) => ({
      name: `${'😀'.repeat(20)}${i}`,
      walletAddress: anAddress(),
    }));
    const proposal = await proposeChange(site.api.http, org, '/members/proposals/create', { items });
    const alice = await open(org.alice, proposal);
    await untilShown(alice, 'Too large for some hardware wallets');
    await untilShown(alice, /^\d+ of 100 shown: data has all$/);
    const small = await open(org.alice, await propose(site.api.http, org, { name: 'Small' }));
    await button(small, 'Approve: 1 more after yours').waitFor();
    expect(await small.page.getByText('hardware wallets').count()).toBe(0);
    const three = await proposeChange(site.api.http, org, '/members/proposals/create', {
      items: items.slice(0, 3).map((item) => ({ ...item, walletAddress: anAddress() })),
    });
    await untilShown(await open(org.alice, three), /A hardware wallet may cut the data, which has \d+ bytes/);
  });

  itDeep('is rejected with a reason', async () => {
    const proposal = await propose(site.api.http, org, { name: 'Unwanted' });
    const alice = await open(org.alice, proposal);
    await alice.page.getByLabel('Reason (optional)').fill('We have one already');
    await button(alice, 'Reject: 1 more after yours').click();
    await untilShown(alice, '1 rejection.');
    const bob = await open(org.bob, proposal);
    await button(bob, 'Reject and execute').click();
    await untilShown(bob, 'It was rejected. Nothing was changed.');
  });

  itDeep('shows a change of a policy field by field, as sentences', async () => {
    const made = await change(site.api.http, org, '/policies/proposals/add', {
      policies: [aPolicyItem({ name: 'Payroll' })],
    });
    const { resourceId, id = resourceId } = made.result.resources[0];
    const proposal = await proposeChange(site.api.http, org, '/policies/proposals/update', {
      policies: [
        {
          id,
          ...aPolicyItem({
            name: 'Payroll',
            tokenTransferCondition: aTokenCondition({ amountThreshold: '5000000000000000000' }),
          }),
        },
      ],
    });
    const alice = await open(org.alice, proposal);
    await untilOn(alice, 'Change policy “Payroll”');
    expect(await section(alice, 'What changes').getByRole('table').textContent()).toContain('5 ETH');
  });

  itDeep('of a policy is typed as a form, read as a difference and signed as it was typed', async () => {
    const alice = await site.signedIn(org.alice, '/new/policies');
    const { page } = alice;
    await untilShown(
      alice,
      'Still needed: name, network, accounts, amount threshold, recipients, initiator, approver.',
    );
    await page.getByLabel('Name').fill('Petty cash');
    await page.getByLabel('Network').selectOption('31337');
    await permitAnybody(alice);
    await page.getByLabel('Amount threshold').fill('0.25');
    await page.getByLabel('Limit what is permitted within a time window').check();
    await button(alice, 'Create proposal').click();
    await untilOn(alice, 'Add policy “Petty cash”');
    const difference = section(alice, 'What changes').getByRole('table');
    await difference
      .getByText(/0\.25 ETH/)
      .first()
      .waitFor();
    await button(alice, 'Approve: 1 more after yours').click();
    await untilShown(alice, '1 of 2 approvals');
    const [typedData = ''] = alice.wallet.typedData;
    expect(JSON.parse(JSON.parse(typedData).message.data).policies).toMatchObject([
      { name: 'Petty cash', tokenTransferCondition: { amountThreshold: '250000000000000000' } },
    ]);
  });

  itDeep('of a policy begins with the policy, and what is typed outlasts a reload', async () => {
    const made = await change(site.api.http, org, '/policies/proposals/add', {
      policies: [aPolicyItem({ name: 'Suppliers' })],
    });
    const alice = await site.signedIn(org.alice, `/policies/${made.result.resources[0].id}`);
    const { page } = alice;
    await page.getByRole('link', { name: 'Propose a change of Suppliers' }).click();
    await untilOn(alice, 'New proposal: policies');
    const name = page.getByRole('textbox', { name: 'Name' });
    expect(await name.inputValue()).toBe('Suppliers');
    await name.fill('Suppliers abroad');
    await page.reload();
    expect(await name.inputValue()).toBe('Suppliers abroad');
    await button(alice, 'Create proposal').click();
    await untilOn(alice, 'Change policy “Suppliers abroad”');
  });

  itDeep('of a policy that the server makes looser gets no signature', async () => {
    const alice = await site.signedIn(org.alice, '/new/policies');
    const { page } = alice;
    await page.getByLabel('Name').fill('Small change');
    await page.getByLabel('Network').selectOption('31337');
    await permitAnybody(alice);
    await page.getByLabel('Amount threshold').fill('0.25');
    await lie(alice.context, [
      [/250000000000000000/, '950000000000000000'],
      [/0\.25/, '0.95'],
    ]);
    await button(alice, 'Create proposal').click();
    await untilNotSignable(alice, 'message.data.policies[0].tokenTransferCondition.amountThreshold');
    expect(alice.wallet.typedData).toEqual([]);
  });

  itDeep('can be read and not signed by somebody who is not an admin', async () => {
    const proposal = await propose(site.api.http, org);
    const dave = await open(org.dave, proposal);
    await section(dave, 'Signatures').waitFor();
    expect(await button(dave, /Approve|Reject|Execute/).count()).toBe(0);
  });
});
