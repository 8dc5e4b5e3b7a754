import { type FoundWallet, wallets } from '../signing/wallet.ts';
import { useStore } from '../state/store.ts';
import { Button } from './Button.tsx';
import styles from './wallet-choice.module.css';

interface Props {
  /** What is done with the wallet, such as `Sign in`. */
  readonly verb: string;
  /** The wallet that has been asked. */
  readonly waitingFor: FoundWallet | undefined;
  readonly onChoice: (wallet: FoundWallet) => void;
}

/** Which kinds of wallets there are, and how each comes to this page. */
function NoWallet() {
  return (
    <div className="stack-small">
      <p>
        <b>No wallet found in this browser.</b> Use one of these:
      </p>
      <ul className={styles.walletKinds}>
        <li>
          <b>Browser extension</b>, such as MetaMask or Rabby: install it, create or import the account, then
          reload this page. Any that announces itself (EIP-6963) works.
        </li>
        <li>
          <b>Phone</b>: open <code>{location.host}</code> in the browser of the wallet app.
        </li>
        <li>
          <b>Hardware wallet</b>, such as Ledger or Trezor: connect it to one of these extensions.
        </li>
        <li>
          <b>Contract wallet</b>: an extension or app that signs as the contract (EIP-1271).
        </li>
      </ul>
      <Button onClick={() => location.reload()}>Reload</Button>
    </div>
  );
}

/** The wallets of this browser, one button each. */
export function WalletChoice({ verb, waitingFor, onChoice }: Props) {
  const found = useStore(wallets);
  if (found.length === 0) return <NoWallet />;
  return (
    <ul className={styles.choices}>
      {found.map((wallet) => (
        <li key={wallet.id}>
          <Button
            look={found.length === 1 ? 'primary' : 'plain'}
            busy={waitingFor?.id === wallet.id}
            onClick={() => onChoice(wallet)}
          >
            {wallet.icon ? <img src={wallet.icon} alt="" width="20" height="20" /> : null}
            {verb} with {wallet.name}
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** Says that a wallet has been asked, and stops waiting for it. */
export function WaitingForWallet({
  wallet,
  onStop,
}: {
  readonly wallet: FoundWallet | undefined;
  readonly onStop: () => void;
}) {
  return (
    <div role="status">
      {wallet ? (
        <p className="row">
          Waiting for {wallet.name}: confirm in the wallet.
          <Button look="quiet" onClick={onStop}>
            Stop waiting
          </Button>
        </p>
      ) : null}
    </div>
  );
}
