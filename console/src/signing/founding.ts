import { encodedSignature, type Founder, type VerifiedGenesis } from '@orgwallet/client';
import { type Hex, recoverAddress } from 'viem';
import { keepPin } from '../api/client.ts';
import { isSameAddress } from '../domain/address.ts';
import { accountsOf, type FoundWallet, walletFor } from './wallet.ts';
import { WalletError } from './walletError.ts';

/** An address, with the founder whose it is. */
function described(address: string | undefined, { admins }: VerifiedGenesis): string {
  if (address === undefined) return 'no account';
  const holder = admins.find(({ walletAddress }) => isSameAddress(walletAddress, address));
  return holder ? `${address} of “${holder.name}”` : `${address}, which does not belong to an admin`;
}

/** Makes sure that a wallet has the account of a founder. Throws WalletError that names whose account it has. */
async function assertFounder(
  genesis: VerifiedGenesis,
  { name, walletAddress }: Founder,
  wallet: FoundWallet,
  signal: AbortSignal,
): Promise<void> {
  const accounts = await accountsOf(wallet, signal);
  if (accounts.some((account) => isSameAddress(account, walletAddress))) return;
  throw new WalletError(
    'wrongAccount',
    `${wallet.name} has selected ${described(accounts[0], genesis)}. You are “${name}”: select account ${walletAddress} in the wallet, then try again.`,
  );
}

/** Makes sure that a signature is of a founder's key. Throws WalletError that names whose it is: wallets have signed otherwise. */
async function assertSignedBy(
  genesis: VerifiedGenesis,
  { name, walletAddress }: Founder,
  wallet: FoundWallet,
  signature: string,
): Promise<void> {
  if (!/^0x[0-9a-f]{130}$/i.test(signature)) {
    throw new WalletError(
      'failed',
      `${wallet.name} has returned no signature of a key (65 bytes), and the genesis says that “${name}” has one. A contract wallet has to be named as such: the operator creates the organization again with walletKind "contract".`,
    );
  }
  const signer = await recoverAddress({ hash: genesis.digest, signature: signature as Hex }).catch(
    () => undefined,
  );
  if (signer !== undefined && isSameAddress(signer, walletAddress)) return;
  throw new WalletError(
    'failed',
    `${wallet.name} has signed something else, or with another key: the signature is not of “${name}” (${walletAddress}) over the digest of this page. It was discarded. Try another wallet.`,
  );
}

/**
 * Has a genesis signed by the wallet of a founder, and returns the signature as `orgwallet org sign` takes it:
 * `abi.encode(address signer, bytes signature)`. A key's signature is verified; one of a contract wallet is verified when it is
 * stored. From now on this browser signs for no other salt of the organization. Throws WalletError.
 */
export async function signGenesis(
  genesis: VerifiedGenesis,
  founder: Founder,
  wallet: FoundWallet,
  signal: AbortSignal,
): Promise<Hex> {
  await assertFounder(genesis, founder, wallet, signal);
  const { address, sign } = walletFor(founder.walletAddress, wallet, signal);
  const signature = await encodedSignature(
    {
      address,
      sign: async (typedData) => {
        const bytes = await sign(typedData);
        if (founder.walletKind === 'key') await assertSignedBy(genesis, founder, wallet, bytes);
        return bytes;
      },
    },
    genesis.typedData,
  );
  keepPin({ organization: genesis.state.id, salt: genesis.state.domainSalt });
  return signature;
}
