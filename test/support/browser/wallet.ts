import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { createWalletClient, type Hex, hexToString, http, toHex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { rpc, sharedStack } from '../stack';

/** One request of a page to the wallet. Source: EIP-1193. */
interface WalletRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

type Outcome = { readonly result: unknown } | { readonly error: { code: number; message: string } };

const failure = (code: number, message: string): Outcome => ({ error: { code, message } });
const REFUSED = failure(4001, 'User rejected the request.');
const BUSY = failure(-32002, 'Request already pending. Please wait.');
const UNAUTHORIZED = failure(4100, 'The account is not one of this wallet.');
const UNSUPPORTED = failure(4200, 'The method is not supported.');

/** As MetaMask says it. */
const otherChain = (asked: number, current: number) =>
  failure(-32000, `Provided chainId "${asked}" must match the active chainId "${current}"`);
const unknownChain = (asked: string) => failure(4902, `Unrecognized chain ID "${asked}".`);

const TYPED_DATA = 'eth_signTypedData_v4';
const SENDING = 'eth_sendTransaction';
const SIGNING = ['personal_sign', TYPED_DATA, SENDING];
/** What a wallet asks the node of its chain. */
const READING = ['eth_call', 'eth_getBalance', 'eth_getCode', 'eth_getTransactionReceipt'];

/** A wallet as an extension of the browser: it has accounts with keys, and answers as the test says. */
export class TestWallet {
  /** What the person does when asked for a signature. */
  answer: 'signs' | 'refuses' | 'hangs' = 'signs';
  /** The chain that it is on. */
  chainId = 31_337;
  /** The chains that it can go to. It signs typed data only of the one that it is on. */
  knownChains: readonly number[] = [31_337, 31_338, 1];
  /** What becomes of a request to add a chain. */
  adds: 'not' | 'adds' | 'refuses' | 'isBusy' = 'not';
  /** The nodes of its chains, by chain id. */
  private readonly nodes = new Map(sharedStack().chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl]));
  /** Everything that pages have asked for. */
  readonly requests: WalletRequest[] = [];

  constructor(
    private readonly context: BrowserContext,
    private accounts: readonly PrivateKeyAccount[],
  ) {}

  /** Installs it in every page that the context opens from now on. */
  async install(): Promise<this> {
    await this.context.exposeBinding('testWalletRequest', (_, request: WalletRequest) =>
      this.respond(request),
    );
    await this.context.addInitScript({ path: join(__dirname, 'announceWallet.js') });
    return this;
  }

  /** Has it know chains besides those that all tests share. */
  know(chains: readonly { readonly networkId: number; readonly url: string }[]): void {
    for (const { networkId, url } of chains) this.nodes.set(networkId, url);
    this.knownChains = [...this.knownChains, ...chains.map(({ networkId }) => networkId)];
  }

  /** The typed data that pages have asked it to sign: none when nothing was signed. */
  get typedData(): readonly string[] {
    return this.requests.filter(({ method }) => method === TYPED_DATA).map(({ params }) => String(params[1]));
  }

  /** The person chooses other accounts in the wallet. */
  async choose(...accounts: readonly PrivateKeyAccount[]): Promise<void> {
    this.accounts = accounts;
    const report = `testWalletAccountsChanged(${JSON.stringify(this.addresses())})`;
    await Promise.all(this.context.pages().map((page) => page.evaluate(report)));
  }

  private addresses(): string[] {
    return this.accounts.map(({ address }) => address.toLowerCase());
  }

  private async respond(request: WalletRequest): Promise<Outcome> {
    this.requests.push(request);
    const { method, params } = request;
    if (SIGNING.includes(method) && this.answer === 'refuses') return REFUSED;
    if (SIGNING.includes(method) && this.answer === 'hangs') return new Promise(() => {});
    switch (method) {
      case 'eth_accounts':
      case 'eth_requestAccounts':
        return { result: this.addresses() };
      case 'eth_chainId':
        return { result: toHex(this.chainId) };
      case 'personal_sign':
        return this.sign(params[1], (by) => by.signMessage({ message: hexToString(params[0] as Hex) }));
      case TYPED_DATA:
        return this.signTypedData(params);
      case SENDING:
        return this.send(params[0] as { from: Hex; to: Hex; value: Hex; data?: Hex; gas?: Hex });
      case 'wallet_switchEthereumChain':
        return this.goTo((params[0] as { chainId: string }).chainId);
      case 'wallet_addEthereumChain':
        return this.add((params[0] as { chainId: string }).chainId);
      default:
        return READING.includes(method) ? this.read(method, params) : UNSUPPORTED;
    }
  }

  /** The endpoint of the chain that it is on. */
  private get endpoint(): string {
    return this.nodes.get(this.chainId) ?? '';
  }

  private read(method: string, params: readonly unknown[]): Promise<Outcome> {
    return rpc<unknown>(this.endpoint, method, [...params]).then(
      (result) => ({ result }),
      (error: Error) => failure(-32603, error.message),
    );
  }

  private add(chainId: string): Outcome {
    if (this.adds === 'not') return UNSUPPORTED;
    if (this.adds === 'refuses') return REFUSED;
    if (this.adds === 'isBusy') return BUSY;
    this.knownChains = [...this.knownChains, Number(chainId)];
    return { result: null };
  }

  private goTo(chainId: string): Outcome {
    if (!this.knownChains.includes(Number(chainId))) return unknownChain(chainId);
    this.chainId = Number(chainId);
    return { result: null };
  }

  private async signTypedData([address, text]: readonly unknown[]): Promise<Outcome> {
    const typedData = JSON.parse(String(text));
    const { chainId = this.chainId } = typedData.domain;
    return chainId === this.chainId
      ? this.sign(address, (by) => by.signTypedData(typedData))
      : otherChain(chainId, this.chainId);
  }

  /** Sends on the chain that it is on. */
  private send(asked: { from: Hex; to: Hex; value: Hex; data?: Hex; gas?: Hex }): Promise<Outcome> {
    const { from, to, value, data = '0x', gas } = asked;
    return this.sign(from, (account) =>
      createWalletClient({ account, transport: http(this.endpoint) }).sendTransaction({
        chain: null,
        to,
        value: BigInt(value),
        data,
        ...(gas === undefined ? {} : { gas: BigInt(gas) }),
      }),
    );
  }

  private async sign(address: unknown, work: (by: PrivateKeyAccount) => Promise<string>): Promise<Outcome> {
    const own = this.accounts.find((one) => one.address.toLowerCase() === String(address).toLowerCase());
    return own ? { result: await work(own) } : UNAUTHORIZED;
  }
}
