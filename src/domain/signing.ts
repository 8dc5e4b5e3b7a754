import type { Decision } from './approval';
import { canonicalJson, type JsonValue } from './canonicalJson';
import type { ProposalAction, ResourceType } from './proposal';
import { signedDataText } from './signedData';
import { summaryLines } from './summary';
import { readContent, type Spending, spendingOf } from './transactionContent';

/** What a signature on a proposal covers. */
export interface ProposalToSign {
  readonly id: string;
  readonly organizationId: string;
  readonly resourceType: ResourceType;
  readonly action: ProposalAction;
  /** In lines. */
  readonly summary: string;
  readonly data: JsonValue;
  readonly expiresAt: Date;
}

/** The three things that can be signed about a proposal; each is a primary type of its own. */
export type ProposalStatement = 'ApproveProposal' | 'RejectProposal' | 'InitiateProposal';

/** What an admin signs to vote on a proposal. */
export function voteStatement(decision: Decision): ProposalStatement {
  return decision === 'approve' ? 'ApproveProposal' : 'RejectProposal';
}

const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'salt', type: 'bytes32' },
] as const;

const STATEMENT_TYPE = [
  { name: 'organization', type: 'string' },
  { name: 'proposalId', type: 'string' },
  { name: 'resourceType', type: 'string' },
  { name: 'action', type: 'string' },
  { name: 'summary', type: 'string[]' },
  { name: 'data', type: 'string' },
  { name: 'expiresAt', type: 'uint256' },
] as const;

/**
 * The payload that is signed: EIP-712 typed data as the JSON text that `eth_signTypedData_v4` takes.
 *
 * `domainSalt` is the organization's (bytes32 as 0x hex). `data` is a text in the text (`signedDataText`), the
 * expiry in whole Unix seconds. The text itself is canonical too, so the same proposal always has the same payload.
 */
export function proposalPayload(
  statement: ProposalStatement,
  domainSalt: string,
  proposal: ProposalToSign,
): string {
  return canonicalJson({
    types: { EIP712Domain: DOMAIN_TYPE, [statement]: STATEMENT_TYPE },
    primaryType: statement,
    domain: { name: 'orgwallet', version: '1', salt: domainSalt },
    message: {
      organization: proposal.organizationId,
      proposalId: proposal.id,
      resourceType: proposal.resourceType,
      action: proposal.action,
      summary: summaryLines(proposal.summary),
      data: signedDataText(proposal.data),
      expiresAt: String(Math.floor(proposal.expiresAt.getTime() / 1_000)),
    },
  });
}

/** What a signature on a transaction covers. */
export interface TransactionToSign {
  readonly id: string;
  /** The account, as the verifying contract. */
  readonly accountAddress: string;
  readonly networkId: number;
  readonly to: string;
  /** In wei. */
  readonly value: bigint;
  /** 0x hex. */
  readonly calldata: string;
  readonly policyId: string;
  /** In lines. */
  readonly summary: string;
  readonly expiresAt: Date;
}

/** The things that can be signed about a transaction; each is a primary type of its own. */
export type TransactionStatement = 'InitiateTransaction' | 'ApproveTransaction' | 'RejectTransaction';

const CHAIN_DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const;

const TRANSACTION_TYPE = [
  { name: 'transactionId', type: 'string' },
  { name: 'recipient', type: 'address' },
  { name: 'token', type: 'address' },
  { name: 'amount', type: 'uint256' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'data', type: 'bytes' },
  { name: 'policyId', type: 'string' },
  { name: 'summary', type: 'string[]' },
  { name: 'expiresAt', type: 'uint256' },
] as const;

/** What the bytes give away. An address out of the calldata is in lower case. Throws where they are malformed. */
function spendingOfBytes({ id, to, value, calldata }: TransactionToSign): Spending {
  const content = readContent({ to, value, data: calldata }, (address) => address);
  if (!content.ok) throw new Error(`transaction ${id} is malformed: ${content.refusal.message}`);
  return spendingOf(content.value);
}

/**
 * The payload of a transaction that is signed: EIP-712 typed data of fixed ABI types as canonical JSON text, with the
 * account as the verifying contract. Recipient, token and amount are read from the bytes. An approval or rejection is bound to the initiator's signature by its keccak256
 * (bytes32 as 0x hex); the initiator's own statement takes none.
 */
export function transactionPayload(
  statement: TransactionStatement,
  transaction: TransactionToSign,
  initiatorSignatureHash: string | null,
): string {
  const initiates = statement === 'InitiateTransaction';
  if (initiates !== (initiatorSignatureHash === null)) {
    throw new Error(`${statement} ${initiates ? 'is bound to no' : 'needs the'} signature of the initiator`);
  }
  const { recipient, token, amount } = spendingOfBytes(transaction);
  const bound = initiates ? [] : [{ name: 'initiatorSignatureHash', type: 'bytes32' }];
  return canonicalJson({
    types: { EIP712Domain: CHAIN_DOMAIN_TYPE, [statement]: [...TRANSACTION_TYPE, ...bound] },
    primaryType: statement,
    domain: {
      name: 'orgwallet',
      version: '1',
      chainId: transaction.networkId,
      verifyingContract: transaction.accountAddress,
    },
    message: {
      transactionId: transaction.id,
      recipient,
      token,
      amount: String(amount),
      to: transaction.to,
      value: String(transaction.value),
      data: transaction.calldata,
      policyId: transaction.policyId,
      summary: summaryLines(transaction.summary),
      expiresAt: String(Math.floor(transaction.expiresAt.getTime() / 1_000)),
      ...(initiates ? {} : { initiatorSignatureHash }),
    },
  });
}

/** The payload that the initiator signs: all that a transaction does. */
export function initiatorPayload(transaction: TransactionToSign): string {
  return transactionPayload('InitiateTransaction', transaction, null);
}
