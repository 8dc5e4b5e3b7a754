import type { Approval } from '@orgwallet/client';
import { workflowLink } from '../../../console/src/text/workflowLink';
import { workflowLink as linkOfCli } from '../../../src/cli/workflowLink';

const organization = { id: 'org_1', name: 'Test' };
const transaction = { id: 'txn_1' } as Approval;
const proposal = { id: 'prop_1', resourceType: 'accounts' } as Approval;

describe('the link to the workflow of a request', () => {
  it('is that of the command line, for proposals and transactions', () => {
    const temporal = { uiUrl: 'https://temporal.example/ui/', namespace: 'pay/roll' };
    const session = { organization, temporalUiUrl: temporal.uiUrl, temporalNamespace: temporal.namespace };
    expect(workflowLink(transaction, session)).toBe(linkOfCli(temporal, 'org_1/transactions/txn_1'));
    expect(workflowLink(proposal, session)).toBe(linkOfCli(temporal, 'org_1/accounts/prop_1'));
  });

  it('is not there without a Temporal UI', () => {
    expect(workflowLink(transaction, { organization })).toBeUndefined();
  });
});
