import { type Call, securedDeploymentCall, securingGas } from '../chain/adminsSafe';
import { callDataGas } from '../chain/dataFee';
import { deploymentCall } from '../chain/safeAccount';
import type { Tx } from '../db/database';
import { deploymentEnvelopes, undecidedEnvelope } from '../db/envelopes';
import type { AccountDerivation } from '../domain/account';
import { wantedOwners } from '../domain/adminsSafe';
import { adminsOf, type OrganizationState } from '../domain/governance';
import type { DeploymentKey } from '../domain/proposal';
import type { EnvelopeTerms } from '../domain/terms';
import { boundTerms } from './boundedTerms';
import { assertDeployment } from './deploymentEvidence';
import { assertNotFrozen } from './frozen';
import { assertIds } from './input';
import type { UpkeepEntry } from './journal/entries';
import { refusalsAsValues, type SigningResult } from './refusal';
import { gasOf, reservedBefore, reserveEnvelope, signReserved } from './signEnvelope';
import { networkOf, type SignerContext, withNetwork } from './signerContext';
import { deploymentReservation } from './store/reservations';
import { provideDeploymentAttempt } from './store/signedAttempts';
import { securingEntry, takeNonce } from './upkeep/accounts';
import { contentOf, signUpkeep, unsigned, upkeepCallAlone } from './upkeep/pursue';

/**
 * The first transaction of a new account, which makes the admins' Safe its module; undefined where the admins have none, where
 * nobody can own it on that network, or where the account has signed something else.
 */
async function firstUpkeep(
  context: SignerContext,
  tx: Tx,
  {
    state,
    account,
    accountId,
    networkId,
  }: { state: OrganizationState; account: AccountDerivation; accountId: string; networkId: number },
): Promise<UpkeepEntry | undefined> {
  const [journaled] = context.journal.upkeepsOf({ networkId, safe: account.address });
  if (journaled) return journaled.safeNonce === '0' ? journaled : undefined;
  if (!state.admins.onChain) return undefined;
  const { signerNetworkId } = context;
  if (wantedOwners(adminsOf(state), { id: networkId, signerNetworkId }).kind === 'impossible')
    return undefined;
  return (await takeNonce(context, tx, { state, accountId, networkId }, 0n))?.entry;
}

/** The call that deploys an account, with its first transaction where it has one. */
async function callOf(
  context: SignerContext,
  account: AccountDerivation,
  first: UpkeepEntry | undefined,
): Promise<Call> {
  return first ? securedDeploymentCall(account, await signUpkeep(context, first)) : deploymentCall(account);
}

/** Gas that a rollup takes for the data of the first transaction of an account. Throws ChainUnavailable. */
async function dataGasOf(
  context: SignerContext,
  { organizationId, accountId, networkId }: DeploymentKey,
): Promise<bigint> {
  const [chain] = context.endpointsOf(networkOf(context, networkId));
  const { state } = await context.readSealedState(context.db, organizationId, { remembered: true });
  if (!chain || !state.admins.onChain) return 0n;
  const first = securingEntry({ state, accountId, networkId }, 0n);
  return callDataGas(chain, upkeepCallAlone(unsigned(first)).call);
}

/** The terms, with gas for the first transaction of the account. */
function withGas<T extends EnvelopeTerms>(terms: T, first: UpkeepEntry | undefined, dataGas: bigint): T {
  if (!first) return terms;
  return { ...terms, gas: String(BigInt(terms.gas) + securingGas(contentOf(first)) + dataGas) };
}

/**
 * Signs an envelope that deploys an account on a network, and stores it; in an organization with an admins' Safe the same
 * transaction makes that the account's module. Returns an undecided envelope instead, unless the terms replace it. Only accounts
 * and networks of the sealed state are deployed.
 */
export async function signDeployment(
  context: SignerContext,
  input: DeploymentKey & { terms: EnvelopeTerms },
): Promise<SigningResult> {
  return refusalsAsValues(context, async () => {
    assertIds(input, 'organizationId', 'proposalId', 'accountId', 'networkId');
    const { networkId, accountId } = input;
    const of = { networkId, accountId };
    const about = { kind: 'deployment', organizationId: input.organizationId } as const;
    assertNotFrozen(context, input.organizationId);
    const asked = await boundTerms(context, networkId, input.terms);
    const dataGas = await dataGasOf(context, input);
    const found = await withNetwork(context, networkId, async (tx) => {
      const { account, state } = await assertDeployment(context, tx, input);
      const before = await deploymentReservation(tx, input);
      const envelopes = await deploymentEnvelopes(tx, input);
      const first = await firstUpkeep(context, tx, { state, account, ...of });
      // Before the commit, so that no row takes a nonce that nobody uses.
      if (first) await context.journal.append(first);
      const terms = withGas(asked, first, dataGas);
      const newest = undecidedEnvelope(envelopes);
      if (!before && newest && terms.replaces !== String(newest.id)) return { present: newest };
      const request = { ...of, about, terms };
      const reserved = before
        ? // A crash came before it was signed.
          await reservedBefore(context, tx, { ...request, attemptId: before.attemptId }, before)
        : await reserveEnvelope(context, tx, {
            ...request,
            attemptId: await provideDeploymentAttempt(tx, { ...input, ...deploymentCall(account) }),
            ...(newest ? { replaces: newest } : {}),
          });
      return { reserved, account, first };
    });
    if ('present' in found) return { envelopeId: String(found.present?.id) };
    const { reserved, account, first } = found;
    await context.gasBudget.append(gasOf(reserved, about));
    const call = await callOf(context, account, first);
    return { envelopeId: String(await signReserved(context, reserved, call)) };
  });
}
