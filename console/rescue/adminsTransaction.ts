import {
  type AdminsTransaction,
  MAX_TAKEN,
  SENTINEL,
  safeAbi,
  safeTypedData,
  signatureOfCaller,
  takeoverCalls,
  takeoverGas,
  together,
} from '@orgwallet/client/rescue';
import {
  type Address,
  encodeFunctionData,
  formatUnits,
  getAddress,
  type Hex,
  hashTypedData,
  isAddress,
  parseUnits,
  zeroAddress,
} from 'viem';
import type { BrowserWallet } from './browserWallet.ts';
import {
  type AccountOnChain,
  type ChainState,
  isAmong,
  readToken,
  type SafeOnChain,
  tokenAbi,
} from './chainState.ts';

/** A transaction of the admins' Safe as it is signed. */
export interface Prepared {
  /** What it does, line by line. */
  readonly lines: readonly string[];
  readonly transaction: AdminsTransaction;
  readonly typedData: ReturnType<typeof safeTypedData>;
  /** What the admins sign. */
  readonly hash: Hex;
  readonly nonce: bigint;
  /** Gas to send it with; undefined where the wallet estimates it. */
  readonly gas: bigint | undefined;
}

/** Where a transaction is signed. */
export interface Place {
  readonly networkId: number;
  readonly adminsSafe: Address;
  readonly keeper: Address;
  readonly safe: SafeOnChain;
}

function prepared(
  { networkId, adminsSafe, safe }: Place,
  transaction: AdminsTransaction,
  lines: readonly string[],
  gas?: bigint,
): Prepared {
  const typedData = safeTypedData(networkId, adminsSafe, transaction, safe.nonce);
  const hash = hashTypedData(typedData as unknown as Parameters<typeof hashTypedData>[0]);
  return { lines, transaction, typedData, hash, nonce: safe.nonce, gas };
}

/** The module before another one, as a Safe keeps its list. */
function moduleBefore({ modules }: SafeOnChain, module: Address): Address {
  const at = modules.findIndex((one) => one.toLowerCase() === module.toLowerCase());
  return modules[at - 1] ?? SENTINEL;
}

/** The takeover of what the network says is ready. Throws Error where nothing is. */
export function takeover(place: Place, { accounts, hasMultiSend }: ChainState): Prepared {
  if (!hasMultiSend) {
    throw new Error(
      'This network does not have MultiSendCallOnly 1.4.1. A takeover would do nothing there. Is the wallet on the right network?',
    );
  }
  const { adminsSafe, keeper, safe } = place;
  const ready = accounts.flatMap(({ state, address, name, owner }) =>
    state === 'ready' && owner ? [{ address, name, owner }] : [],
  );
  const now = ready.slice(0, MAX_TAKEN);
  if (now.length === 0) throw new Error('No account on this network is ready to be taken over.');
  const has = isAmong(keeper, safe.modules);
  const dropped = has ? { address: keeper, before: moduleBefore(safe, keeper) } : undefined;
  const calls = takeoverCalls(adminsSafe, now, dropped);
  const left = ready.length - now.length;
  return prepared(
    place,
    together(calls),
    [
      ...(has
        ? [`The signing key can no longer change the admins' Safe (module ${keeper} is removed).`]
        : []),
      ...now.map(({ name, address }) => `“${name}” (${address}) belongs to the admins' Safe.`),
      ...(left > 0 ? [`${left} more accounts are left for the next round.`] : []),
    ],
    takeoverGas(now.length, safe.owners.length),
  );
}

/** A payment as it is typed. */
export interface Payment {
  readonly account: AccountOnChain;
  readonly to: string;
  /** Empty: the native currency. */
  readonly token: string;
  /** Empty: everything. */
  readonly amount: string;
}

function addressIn(text: string, label: string): Address {
  if (isAddress(text.trim())) return getAddress(text.trim());
  throw new Error(
    `${label}: "${text}" is not an address (expected 0x and 40 hex digits, with the right capitals).`,
  );
}

function amountIn(text: string, { balance, decimals }: { balance: bigint; decimals: number }): bigint {
  const typed = text.trim();
  if (typed !== '' && !/^\d+(\.\d+)?$/.test(typed)) {
    throw new Error(`Amount: "${text}" is not an amount (expected such as 1.5).`);
  }
  if ((typed.split('.')[1] ?? '').length > decimals) {
    throw new Error(`Amount: "${text}" has more than ${decimals} decimals.`);
  }
  const amount = typed === '' ? balance : parseUnits(typed, decimals);
  if (amount === 0n) throw new Error('Amount: there is nothing to move.');
  if (amount > balance) throw new Error(`Amount: the account has ${formatUnits(balance, decimals)}.`);
  return amount;
}

/** What an account that is taken over executes. */
function executionOf(
  { address }: AccountOnChain,
  adminsSafe: Address,
  call: { to: Address; value: bigint; data: Hex },
) {
  const data = encodeFunctionData({
    abi: safeAbi,
    functionName: 'execTransaction',
    args: [
      ...([call.to, call.value, call.data, 0, 0n, 0n, 0n] as const),
      ...([zeroAddress, zeroAddress, signatureOfCaller(adminsSafe)] as const),
    ],
  });
  return { to: address, value: 0n, data, operation: 0 } as const;
}

/** A payment of an account that is taken over. Throws Error with the field that is wrong. */
export async function payment(
  wallet: BrowserWallet,
  place: Place,
  { account, to: recipient, token: tokenText, amount: typed }: Payment,
): Promise<Prepared> {
  const to = addressIn(recipient, 'To address');
  const line = (amount: string) => `Send ${amount} from “${account.name}” (${account.address}) to ${to}.`;
  if (tokenText.trim() === '') {
    const value = amountIn(typed, { balance: account.balance, decimals: 18 });
    const transaction = executionOf(account, place.adminsSafe, { to, value, data: '0x' });
    return prepared(place, transaction, [line(`${formatUnits(value, 18)} of the native currency`)]);
  }
  const token = addressIn(tokenText, 'Token address');
  const found = await readToken(wallet, token, account.address);
  const amount = amountIn(typed, found);
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, amount] });
  const transaction = executionOf(account, place.adminsSafe, { to: token, value: 0n, data });
  return prepared(place, transaction, [
    line(`${formatUnits(amount, found.decimals)} ${found.symbol} (${token})`),
  ]);
}
