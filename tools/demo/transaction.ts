import { isDeepStrictEqual } from 'node:util';
import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type MemberSummary, NoAnswer, type OrgwalletClient, signTypedData } from './client';

/** The request for a transaction. */
export interface TransactionRequest {
  readonly accountId: string;
  readonly initiatorWalletAddress: string;
  readonly networkId: number;
  readonly policyId: string;
  readonly description: string;
  readonly to: string;
  readonly value: string;
  readonly data: string;
  /** A failed transaction of the account that cannot be executed again. */
  readonly replaces?: string;
}

export type TransactionVoteType = 'initiator' | 'approve' | 'reject';

/** The fields of a transaction that the demo uses. */
export interface Transaction {
  readonly id: string;
  readonly accountId: string;
  readonly networkId: number;
  readonly to: string;
  readonly value: string;
  readonly calldata: string;
  readonly summary: string;
  readonly replaces?: string;
  readonly data: {
    readonly functionName?: string;
    readonly functionParameters?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly policy: { readonly id: string };
  readonly threshold: number;
  readonly approvals: readonly MemberSummary[];
  readonly rejections: readonly MemberSummary[];
  readonly signatureStatus: string;
  readonly executionStatus: 'processing' | 'completed' | 'rejected' | 'failed' | 'blocked' | null;
  readonly signingPayloads?: { readonly [payload in `${TransactionVoteType}Payload`]?: string };
  readonly chain?: { readonly transactionHash: string };
  readonly result?: {
    readonly resolution: 'approved' | 'rejected';
    readonly transactionHash?: string;
    readonly blockNumber?: number;
  };
  readonly failure?: { readonly code: string; readonly message: string };
  readonly expiresAt: string;
}

const STATEMENTS = {
  initiator: 'InitiateTransaction',
  approve: 'ApproveTransaction',
  reject: 'RejectTransaction',
} as const;

const NATIVE_CURRENCY = '0x0000000000000000000000000000000000000000';

/** Who receives what, by the bytes: an ERC-20 transfer, or native currency to the called address. */
function spentBy({ to, value, calldata }: Pick<Transaction, 'to' | 'value' | 'calldata'>) {
  const [, recipient, amount] =
    /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/.exec(calldata.toLowerCase()) ?? [];
  if (recipient === undefined) return { recipient: to, token: NATIVE_CURRENCY, amount: value };
  return { recipient: `0x${recipient}`, token: to, amount: String(BigInt(`0x${amount}`)) };
}

/**
 * Signs a transaction as a wallet does. Throws when the payload differs from that vote on the transaction, from the
 * account at `accountAddress`.
 */
export async function signTransaction(
  wallet: PrivateKeyAccount,
  transaction: Transaction,
  accountAddress: string,
  type: TransactionVoteType,
): Promise<Hex> {
  const payload = transaction.signingPayloads?.[`${type}Payload`];
  if (payload === undefined) throw new Error(`transaction ${transaction.id} takes no such signature now`);
  const typedData = JSON.parse(payload);
  const { initiatorSignatureHash, ...message } = typedData.message;
  const said = { primaryType: typedData.primaryType, domain: typedData.domain, message };
  const { id, networkId, to, value, calldata, policy, summary, expiresAt } = transaction;
  const shown = {
    primaryType: STATEMENTS[type],
    domain: { name: 'orgwallet', version: '1', chainId: networkId, verifyingContract: accountAddress },
    message: {
      transactionId: id,
      ...spentBy(transaction),
      to,
      value,
      data: calldata,
      policyId: policy.id,
      summary,
      expiresAt: String(Math.floor(Date.parse(expiresAt) / 1_000)),
    },
  };
  if (!isDeepStrictEqual(said, shown)) {
    throw new Error(`the payload differs from transaction ${id}: nothing was signed`);
  }
  return signTypedData(wallet, typedData);
}

/** Waits until the execution of a transaction has ended. Throws NoAnswer after `limitMs`. */
export async function transactionDecided(
  client: OrgwalletClient,
  transaction: Transaction,
  limitMs: number,
): Promise<Transaction> {
  const deadline = Date.now() + limitMs;
  let current = transaction;
  while (current.executionStatus === 'processing') {
    if (Date.now() > deadline) {
      throw new NoAnswer(`transaction ${current.id} is still being executed after ${limitMs / 1_000} s`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
    current = await client.read<Transaction>(`/transactions/${current.id}`);
  }
  return current;
}
