/** Why a wallet has not done what it was asked for. `code` says it for programs, the message for people. */
export class WalletError extends Error {
  override readonly name = 'WalletError';
  constructor(
    readonly code: 'none' | 'refused' | 'busy' | 'wrongAccount' | 'cancelled' | 'failed',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What a person declines, by the method that the wallet asks them about. */
const DECLINED: { readonly [method: string]: string } = {
  eth_requestAccounts: 'Showing an account to this page was declined',
  wallet_switchEthereumChain: 'Going to the network of the account was declined',
  wallet_addEthereumChain: 'Adding the network was declined',
  eth_sendTransaction: 'The payment was declined',
};
const WHAT: { readonly [method: string]: string } = {
  personal_sign: 'sign a message',
  eth_signTypedData_v4: 'sign typed data (EIP-712)',
  wallet_switchEthereumChain: 'go to another network',
  wallet_addEthereumChain: 'add a network',
  eth_sendTransaction: 'send a payment',
};

const codeOf = (error: unknown): { code?: number; message?: string } => (error ?? {}) as { code?: number };

/** What the errors of wallets mean. Source: EIP-1193, EIP-1474, EIP-3085, EIP-3326. */
export function walletError(error: unknown, { name, method }: { name: string; method: string }): WalletError {
  if (error instanceof WalletError) return error;
  const { code, message } = codeOf(error);
  const failed = (text: string) => new WalletError('failed', text, { cause: error });
  switch (code) {
    case 4001: {
      const done = method === 'eth_sendTransaction' ? 'Nothing was sent.' : 'Nothing was signed.';
      const declined = DECLINED[method] ?? 'The request was declined';
      return new WalletError('refused', `${declined} in ${name}. ${done} Try again to go on.`);
    }
    case -32002:
      return new WalletError(
        'busy',
        `${name} has another open request. Answer or close it in the wallet, then try again.`,
      );
    case 4100:
      return failed(
        `${name} does not permit this page to use the account. Unlock the wallet, connect the account to this page, then try again.`,
      );
    case 4200:
    case -32601:
      return failed(`${name} cannot ${WHAT[method] ?? `do ${method}`}. Use another wallet.`);
    case 4900:
    case 4901:
      return failed(
        `${name} has no connection to its network. Choose another network in the wallet, then try again.`,
      );
    case 4902:
      return failed(`${name} does not have the network.`);
    default:
      return failed(`${name} could not ${WHAT[method] ?? 'sign'}: ${message ?? String(error)}`);
  }
}
