import type { NewTransaction } from '../contract/transactions';
import type { Db } from '../db/database';
import { readTransactionWorld, type TransactionWorld } from '../db/transactionWorld';
import {
  planTransaction,
  type ResolvedTransaction,
  readTransferredToken,
  resolveTransaction,
  type TransactionAsked,
} from '../transactions/plan';
import type { ApiDependencies } from './dependencies';
import { acceptOrThrow, badRequest, unavailable } from './refusals';

type Dependencies = { db: Db } & Pick<ApiDependencies, 'config' | 'readToken'>;

/** What a caller asks for, found in the organization. Throws badRequest with everything that is wrong. */
export async function resolveRequest(
  { db, config }: Pick<Dependencies, 'db' | 'config'>,
  organizationId: string,
  asked: TransactionAsked & { readonly policyId?: string },
): Promise<{ world: TransactionWorld; resolved: ResolvedTransaction }> {
  const { accountId, initiatorWalletAddress: walletAddress, policyId } = asked;
  const world = await readTransactionWorld(db, {
    organizationId,
    accountId,
    walletAddress,
    policyId: policyId ?? '',
  });
  const resolved = resolveTransaction(config.networks, world, asked);
  const unknownPolicy =
    policyId === undefined || world.policy
      ? []
      : [{ field: 'policyId', message: 'is no policy of the organization' }];
  const [first, ...others] = [...(resolved.ok ? [] : resolved.issues), ...unknownPolicy];
  if (first) throw badRequest([first, ...others]);
  if (!resolved.ok) throw new Error('a bad transaction was not refused');
  return { world, resolved: resolved.value };
}

/**
 * Refuses a new transaction that cannot be, or that its policy does not let go, budgets apart. Its chain is asked only
 * about a token that the policy does not name.
 */
export async function checkNewTransaction(
  dependencies: Dependencies,
  organizationId: string,
  asked: NewTransaction,
): Promise<void> {
  const { world, resolved } = await resolveRequest(dependencies, organizationId, asked);
  const { network, content } = resolved;
  const token = await readTransferredToken(dependencies.readToken, network.id, content, world.policy);
  if (token && !token.ok && token.unavailable) {
    throw unavailable(`the token cannot be read now: ${token.reason}; send the same request again`);
  }
  acceptOrThrow(planTransaction(world, resolved, asked, token));
}
