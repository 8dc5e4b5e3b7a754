import type { NewTransaction } from '../contract/transactions';
import type { Db } from '../db/database';
import { type ReferencedRecords, readReferencedRecords } from '../db/referencedRecords';
import {
  planTransaction,
  type ResolvedTransaction,
  readTransferredToken,
  resolveTransaction,
  type TransactionContentRequest,
} from '../transactions/plan';
import type { ApiDependencies } from './dependencies';
import { acceptOrThrow, badRequest, unavailable } from './refusals';

type Dependencies = { db: Db } & Pick<ApiDependencies, 'config' | 'readToken'>;

/** The records of the organization that a request names. Throws badRequest with every bad field. */
export async function resolveRequest(
  { db, config }: Pick<Dependencies, 'db' | 'config'>,
  organizationId: string,
  request: TransactionContentRequest & { readonly policyId?: string },
): Promise<{ records: ReferencedRecords; resolved: ResolvedTransaction }> {
  const { accountId, initiatorWalletAddress: walletAddress, policyId, replaces } = request;
  const records = await readReferencedRecords(db, {
    organizationId,
    accountId,
    walletAddress,
    policyId: policyId ?? '',
    replaces,
  });
  const resolved = resolveTransaction(config.networks, records, request);
  const unknownPolicy =
    policyId === undefined || records.policy
      ? []
      : [{ field: 'policyId', message: 'policy not found in this organization' }];
  const [first, ...others] = [...(resolved.ok ? [] : resolved.issues), ...unknownPolicy];
  if (first) throw badRequest([first, ...others]);
  if (!resolved.ok) throw new Error('a bad transaction was not refused');
  return { records, resolved: resolved.value };
}

/**
 * Refuses a new transaction that is impossible or not permitted by its policy, budgets apart. Its chain is read only for
 * a token that the policy does not name.
 */
export async function checkNewTransaction(
  dependencies: Dependencies,
  organizationId: string,
  request: NewTransaction,
): Promise<void> {
  const { records, resolved } = await resolveRequest(dependencies, organizationId, request);
  const { network, content } = resolved;
  const read = await readTransferredToken(dependencies.readToken, network.id, content, records.policy);
  if (read && !read.ok && read.unavailable) {
    throw unavailable(`the token is unavailable: ${read.reason}; send the same request again`);
  }
  // Only the creation, which stores the summary, looks for other policies that name the token.
  acceptOrThrow(planTransaction(records, resolved, request, { read, signed: () => null }));
}
