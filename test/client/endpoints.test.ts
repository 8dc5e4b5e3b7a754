import { type Api, ApiError, createApi, type Proposal } from '@orgwallet/client';
import { encodeFunctionData, erc20Abi } from 'viem';
import { encodeSignature } from '../../src/chain/signatures';
import { sharedApi } from '../support/api';
import { findOperation } from '../support/conformance';
import { operations, sessionOperations } from '../support/document';
import { bodiesFor, type Furnished, furnish, newAddress, transactionOf } from '../support/furnished';
import { type InterceptingProxy, startInterceptingProxy } from '../support/interceptingProxy';
import { signPayload, type TestMember, type TestService } from '../support/service';

let service: TestService;
let proxy: InterceptingProxy;
let own: Furnished;
let api: Api;

beforeAll(async () => {
  service = await sharedApi();
  proxy = await startInterceptingProxy(service);
  own = await furnish(service, await service.createOrganization());
  api = createApi({ baseUrl: proxy.baseUrl, apiKey: own.org.adminKey });
});
afterAll(async () => {
  proxy?.close();
  await service?.stop();
});

/** Every operation that the service has answered with success. */
const reached = () =>
  new Set(
    proxy.requests.flatMap(({ method, url, status = 0 }) =>
      status < 300 ? (findOperation(method, url)?.operationId ?? []) : [],
    ),
  );

const bodyFor = (operationId: string) => bodiesFor(operationId, own).at(-1);

/** What the generated types cannot say: a body that is made by a table of tests. */
// biome-ignore lint/suspicious/noExplicitAny: any endpoint with any arguments
const any = () => api as any;

describe('the client', () => {
  it('has every endpoint of openapi.json for programs', async () => {
    const { org } = own;
    const votes = async (name: string, proposal: Proposal) => {
      const approvePayload = proposal.signingPayloads?.approvePayload ?? '';
      for (const member of [org.alice, org.bob]) {
        const signature = await signPayload(member, approvePayload);
        await any()[`sign${name}Proposal`](proposal.id, { type: 'approve', signature });
      }
      await any()[`execute${name}Proposal`](proposal.id, { type: 'approve' });
      const read = await any()[`get${name}Proposal`](proposal.id);
      expect(read.executionStatus).not.toBeNull();
    };

    const transaction = await api.createTransaction(bodyFor('createTransaction'));
    expect((await api.simulateTransaction(transaction.id)).status).toBe('fails');
    const { signatureData } = transaction;
    if (signatureData.status !== 'pendingInitiatorSignature')
      throw new Error('it should wait for its initiator');
    const signature = await signPayload(org.dave, signatureData.initiatorPayload);
    const initiated = await api.signTransaction(transaction.id, {
      type: 'initiator',
      signature,
      execute: false,
    });
    expect(initiated.signatureStatus).toBe('approvalReady');
    await api.executeTransaction(transaction.id, { type: 'approve' });
    expect((await api.getTransaction(transaction.id)).id).toBe(transaction.id);
    const changed = await api.changeReferences(transaction.id, bodyFor('changeReferences'));
    expect(changed.tags).toEqual(['rent', 'May']);
    await api.listFees({ policyId: transaction.policy.id });
    const { replaces: _, ...evaluated } = transactionOf(own);
    expect(await api.evaluatePolicies(evaluated)).toHaveLength(6);

    const address = org.dave.wallet.address;
    const { messageToSign: message } = await api.getRegistrationPayload({ walletAddress: address });
    const proof = await org.dave.wallet.signMessage({ message });
    await api.registerWallet({ walletAddress: address, signature: proof });

    for (const name of ['Member', 'Group', 'Policy', 'Account'] as const) {
      await any()[`list${name}Proposals`]({ status: 'closed' });
    }
    const [member] = await api.listMembers();
    const [group] = await api.listGroups();
    const [policy] = await api.listPolicies({ limit: 1 });
    const [account] = await api.listAccounts();
    expect((await api.getMember(member?.id ?? '')).name).toBe(member?.name);
    expect((await api.getGroup(group?.id ?? '')).name).toBe(group?.name);
    expect((await api.getPolicy(policy?.id ?? '')).name).toBe(policy?.name);
    expect((await api.getAccount(account?.id ?? '')).name).toBe(account?.name);
    expect(await api.getAccountBalances(account?.id ?? '')).not.toEqual([]);
    expect((await api.getTotals()).totals).not.toEqual([]);
    expect((await api.getAdmins((await api.listAdmins()).id)).threshold).toBe(2);
    expect(await api.listNetworks()).toHaveLength(2);
    expect(await api.listParts()).not.toEqual([]);
    const named = await api.createAddressBookEntry({ name: 'ACME', address: newAddress() });
    expect((await api.updateAddressBookEntry(named.id, { name: 'ACME Ltd' })).name).toBe('ACME Ltd');
    expect((await api.getAddressBookEntry(named.id)).address).toBe(named.address);
    const { csv } = await api.exportAddressBook();
    expect(await api.importAddressBook({ csv })).toEqual({ created: 0, updated: 0, unchanged: 3 });
    expect((await api.getRecipient(named.address)).known).toEqual([
      { type: 'addressBookEntry', id: named.id, name: 'ACME Ltd' },
    ]);
    const holder = own.accounts[0].id;
    expect(await api.listMovements({ accountId: holder, order: 'oldest' })).toHaveLength(2);
    expect(await api.listAccountMovements(holder, { direction: 'in' })).toHaveLength(2);
    expect((await api.getStatement(holder, {})).assets).not.toEqual([]);
    await api.removeAddressBookEntry(named.id, {});
    expect(await api.listAddressBook({ text: 'acme' })).toEqual([]);
    expect(await api.listAuditLogs({ action: 'policy.created' })).not.toEqual([]);
    expect(await api.listEvents({ types: ['policy.created', 'group.created'] })).not.toEqual([]);
    expect(await api.listTransactions({ status: 'queued' })).not.toEqual([]);
    const hook = await api.createWebhook({ url: 'http://127.0.0.1:9/', enabled: false });
    expect((await api.updateWebhook(hook.id, { description: 'Ledger' })).description).toBe('Ledger');
    expect((await api.rotateWebhook(hook.id, {})).id).toBe(hook.id);
    expect((await api.getWebhookSecrets(hook.id)).secrets).toHaveLength(2);
    expect((await api.testWebhook(hook.id, {})).fault).toBe('connection');
    expect(await api.listWebhookDeliveries(hook.id, { limit: 5 })).toHaveLength(1);
    expect(await api.resendEvents(hook.id, { failed: true })).toEqual({ events: 0 });
    expect((await api.getWebhook(hook.id)).status).toBe('disabled');
    expect((await api.listWebhooks()).map(({ id }) => id)).toContain(hook.id);
    expect((await api.removeWebhook(hook.id)).id).toBe(hook.id);

    await api.proposePolicies(bodyFor('proposePolicies'));
    await votes('Member', await api.proposeMembersCreate(bodyFor('proposeMembersCreate')));
    await votes('Group', await api.proposeGroupsCreate(bodyFor('proposeGroupsCreate')));
    await votes('', await api.proposeGroupsCreate(bodyFor('proposeGroupsCreate')));
    const policies = await api.proposePoliciesAdd(bodyFor('proposePoliciesAdd'));
    expect((await api.getPolicyImpact(policies.id)).summary).toBe(policies.summary);
    expect((await api.previewPolicies(bodyFor('previewPolicies'))).transactions).toBeGreaterThan(0);
    await votes('Policy', policies);
    await votes('Account', await api.proposeAccountsCreate(bodyFor('proposeAccountsCreate')));
    const admins = await api.proposeAdminsUpdate(bodyFor('proposeAdminsUpdate'));
    expect((await api.getQueuedAdminProposal()).id).toBe(admins.id);
    await votes('Admin', admins);
    expect((await api.getRescueKit()).admins.threshold).toBe(3);
    for (const name of ['MembersUpdate', 'MembersRemove', 'GroupsUpdate', 'GroupsDelete'] as const) {
      await any()[`propose${name}`](bodyFor(`propose${name}`));
    }
    for (const name of ['PoliciesUpdate', 'PoliciesRemove', 'AccountsUpdate'] as const) {
      await any()[`propose${name}`](bodyFor(`propose${name}`));
    }
    expect(await api.listProposals({ resourceType: 'groups', status: 'open' })).not.toEqual([]);
    expect(operations.map(({ id }) => id).filter((id) => !reached().has(id))).toEqual([]);
  }, 120_000);

  it('has none of the endpoints of sessions: programs have a key, and no cookie', () => {
    expect(sessionOperations.map(({ id }) => id).filter((id) => id in api)).toEqual([]);
  });

  it('goes through a list page by page, with its filters', async () => {
    const all: string[] = [];
    proxy.intercept({});
    for await (const { id, action } of api.each('listAuditLogs', { limit: 3, action: 'member.created' })) {
      expect(action).toBe('member.created');
      all.push(id);
    }
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(3);
    expect(proxy.requests).toHaveLength(Math.ceil(all.length / 3));
    const { data, pagination } = await api.page('listAuditLogs', { limit: 2, action: 'member.created' });
    expect([data.map(({ id }) => id), pagination?.hasMore]).toEqual([all.slice(0, 2), true]);
  });

  it('reads a list that has no pages as one', async () => {
    const ids: string[] = [];
    for await (const { id } of api.each('listMembers')) ids.push(id);
    expect(ids.sort()).toEqual((await api.listMembers()).map(({ id }) => id).sort());
  });
});

describe('errors of the client', () => {
  /** The error with which a call is refused. */
  async function refusal(call: Promise<unknown>): Promise<ApiError> {
    const error = await call.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ApiError)) throw new Error(`not refused by the API: ${error}`);
    return error;
  }

  it('have code, status, field and request', async () => {
    const items = [{ name: '', networkIds: [31337] }];
    const invalid = await refusal(api.proposeAccountsCreate({ items }));
    expect(invalid).toMatchObject({
      code: 'validationError',
      status: 400,
      details: { field: 'items[0].name' },
    });
    expect(invalid.message).toMatch(/^400 validationError: .* \(items\[0\]\.name\)$/);
    expect(invalid.requestId).toMatch(/./);

    expect(await refusal(api.getPolicy('../members'))).toMatchObject({ code: 'notFound', status: 404 });
    const other = createApi({ baseUrl: proxy.baseUrl, apiKey: own.org.readKey });
    expect(await refusal(other.proposeMembersRemove({ ids: [own.org.dave.id] }))).toMatchObject({
      code: 'forbidden',
    });
    const nobody = createApi({ baseUrl: proxy.baseUrl, apiKey: 'ow_live_nobody' });
    expect(await refusal(nobody.listMembers())).toMatchObject({ code: 'unauthorized', status: 401 });
    const { replaces: _, ...body } = bodyFor('createTransaction');
    const { id } = await api.createTransaction(body);
    expect(await refusal(api.executeTransaction(id, { type: 'approve' }))).toMatchObject({
      code: 'thresholdNotMet',
      status: 422,
    });
    const signature = await encodedBy(own.org.carol);
    expect(
      await refusal(api.signTransaction(id, { type: 'initiator', signature, execute: false })),
    ).toMatchObject({
      code: 'invalidSignature',
    });
  });

  async function encodedBy({ wallet }: TestMember) {
    return encodeSignature(wallet.address, await wallet.signMessage({ message: 'something else' }));
  }

  it.each(['', '.', '..'])('say of the id %j that it is invalid, before anything is sent', async (id) => {
    proxy.intercept({});
    await expect(api.getMember(id, { timeoutMs: 1_000 })).rejects.toThrow(
      new TypeError(`getMember: invalid id "${id}"`),
    );
    await expect(api.executeTransaction(id, { type: 'approve' })).rejects.toThrow(TypeError);
    expect(proxy.requests).toEqual([]);
  });

  it('say why no policy permits a transaction', async () => {
    const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [newAddress(), 1n] });
    const { replaces: _, ...asked } = bodyFor('createTransaction');
    const body = { ...asked, value: '0', data: approve };
    const refused = await refusal(api.createTransaction(body));
    const failures = refused.code === 'forbidden' ? refused.details.failures : undefined;
    expect(failures?.map(({ condition }) => condition)).toEqual(['function']);
  });
});
