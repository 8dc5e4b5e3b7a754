import { type FoundWallet, wallets } from '../signing/wallet.ts';
import { useStore } from '../state/store.ts';
import { Button } from './Button.tsx';
import './wallet-choice.css';

interface Props {
  /** What is done with the wallet, such as `Sign in`. */
  readonly verb: string;
  /** The wallet that has been asked. */
  readonly waitingFor: FoundWallet | undefined;
  readonly onChoice: (wallet: FoundWallet) => void;
}

/** The wallets of this browser, one button each. */
export function WalletChoice({ verb, waitingFor, onChoice }: Props) {
  const found = useStore(wallets);
  if (found.length === 0) {
    return (
      <p>
        No wallet found in this browser. Install a wallet extension, or open this page in the browser of a
        wallet app, then reload it.
      </p>
    );
  }
  return (
    <ul className="choices">
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
