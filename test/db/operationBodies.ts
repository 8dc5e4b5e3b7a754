import type { PolicyContent, Request } from './organization.model';

/** The body that asks for it. Addresses are sent in lower case, as wallets do too. */
export function bodyOf(request: Request): unknown {
  const { kind, ...body } = request;
  if (request.kind === 'policies/create' || request.kind === 'policies/update') {
    return { policies: request.policies.map(policyBody) };
  }
  if (request.kind === 'members/create') {
    return {
      items: request.items.map((item) => ({ ...item, walletAddress: item.walletAddress.toLowerCase() })),
    };
  }
  return body;
}

function policyBody(policy: PolicyContent & { readonly id?: string }) {
  const { approver } = policy;
  return {
    ...(policy.id === undefined ? {} : { id: policy.id }),
    name: policy.name,
    type: approver ? 'MANUAL_APPROVAL' : 'AUTO_APPROVAL',
    transactionType: 'ANY',
    networkId: policy.networkId,
    accountIds: policy.accountIds,
    initiatorSetting: policy.initiator,
    ...(approver
      ? {
          approverSetting:
            approver.type === 'group' ? approver : { type: approver.type, memberId: approver.memberId },
        }
      : {}),
  };
}

/** A policy as a body defines it. */
export function policyDefinition(policy: PolicyContent) {
  const { approver } = policy;
  return {
    name: policy.name,
    type: approver ? 'MANUAL_APPROVAL' : 'AUTO_APPROVAL',
    transactionType: 'ANY',
    networkId: policy.networkId,
    accountIds: policy.accountIds,
    initiatorSetting: policy.initiator,
    ...(approver
      ? {
          approverSetting:
            approver.type === 'group'
              ? { ...approver, excludeInitiator: false }
              : { type: approver.type, memberId: approver.memberId, excludeInitiator: false },
        }
      : {}),
  };
}

/** The same fields in the same order, so that texts can be compared. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [two]) => (one < two ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** Orders things by their ids. */
export const byId = (one: { readonly id: string }, two: { readonly id: string }) =>
  one.id < two.id ? -1 : 1;
