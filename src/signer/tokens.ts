import type { Address } from 'viem';
import { assertChainId, ChainUnavailable, networkLabel } from '../chain/clients';
import { hostOf } from '../chain/contractSignatures';
import { SHIPPED_TOKENS } from '../chain/tokenList';
import { type ReadToken, readToken, type TokenFacts } from '../chain/tokens';
import { isSameAddress } from '../domain/address';
import { NATIVE_CURRENCY } from '../domain/policy';
import { quoted } from '../domain/quoted';
import type { ShownToken } from '../operations/rule';
import { SignerRefusal } from './refusal';
import { networkOf, type SignerContext } from './signerContext';

type TokenContext = Pick<SignerContext, 'networks' | 'endpointsOf'>;

function tokenText({ symbol, name, decimals }: TokenFacts): string {
  return `${quoted(symbol)} (${quoted(name ?? '')}) with ${decimals ?? 'no'} decimals`;
}

function isSame(one: TokenFacts, two: TokenFacts): boolean {
  return one.symbol === two.symbol && one.name === two.name && one.decimals === two.decimals;
}

function isShipped(token: ShownToken): boolean {
  return SHIPPED_TOKENS.some(
    (known) =>
      known.networkId === token.networkId &&
      isSameAddress(known.address, token.tokenAddress) &&
      isSame(known, token),
  );
}

/**
 * A token as every endpoint of the signer reads it. Throws ChainUnavailable when one does not answer or they disagree,
 * SignerRefusal when there is none, or no such token.
 */
async function readOwn(context: TokenContext, { networkId, tokenAddress }: ShownToken): Promise<TokenFacts> {
  const network = networkOf(context, networkId);
  if (tokenAddress === NATIVE_CURRENCY) return network.nativeAsset;
  const clients = context.endpointsOf(network);
  const answers = await Promise.all(
    clients.map(async (client): Promise<ReadToken> => {
      await assertChainId(client);
      return readToken(client, tokenAddress as Address);
    }),
  );
  const [first] = answers;
  if (!first) {
    throw new SignerRefusal(
      'endpoints',
      `the token ${tokenAddress} cannot be verified: network ${networkLabel({ network })} has no signerRpcUrls`,
    );
  }
  const silent = clients.find((_, i) => {
    const answer = answers[i];
    return answer && !answer.ok && answer.unavailable;
  });
  if (silent) throw new ChainUnavailable(network, `its endpoint ${hostOf(silent)} does not answer`);
  const agree = answers.every((answer) =>
    answer.ok ? first.ok && isSame(answer.token, first.token) : !first.ok,
  );
  if (!agree) throw new ChainUnavailable(network, `its endpoints disagree about the token ${tokenAddress}`);
  if (!first.ok) throw new SignerRefusal('stale', first.reason);
  return first.token;
}

/**
 * Verifies the tokens that policies name: their amounts are signed in whole units. Tokens of the list that comes with the
 * service are known, others the signer reads from its own endpoints. Throws SignerRefusal for a token that is another
 * one than those who signed have seen, and ChainUnavailable.
 */
export async function assertTokens(context: TokenContext, tokens: readonly ShownToken[]): Promise<void> {
  const unknown = new Map(
    tokens
      .filter((token) => !isShipped(token))
      .map((token) => [`${token.networkId}:${token.tokenAddress}`, token]),
  );
  const own = new Map(
    await Promise.all(
      [...unknown].map(async ([key, token]) => [key, await readOwn(context, token)] as const),
    ),
  );
  for (const token of tokens) {
    const { networkId, tokenAddress } = token;
    const read = own.get(`${networkId}:${tokenAddress}`);
    if (!read || isShipped(token) || isSame(read, token)) continue;
    throw new SignerRefusal(
      'stale',
      `the signer reads ${tokenAddress} on network ${networkId} as ${tokenText(read)}; what was signed says ${tokenText(token)}`,
    );
  }
}
