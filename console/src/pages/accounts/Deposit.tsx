import type { Schema } from '@orgwallet/client';
import { type FormEvent, useRef, useState } from 'react';
import { expectPayment } from '../../api/balances.ts';
import type { Organization } from '../../api/useOrganization.ts';
import { readAmount } from '../../domain/amounts.ts';
import { type FoundWallet, lastWallet, sendFrom, wallets } from '../../signing/wallet.ts';
import { useStore } from '../../state/store.ts';
import { Address } from '../../ui/Address.tsx';
import { Button } from '../../ui/Button.tsx';
import { RecordField, TextField } from '../../ui/Field.tsx';
import formStyles from '../../ui/form.module.css';
import { Notice } from '../../ui/Notice.tsx';
import { QrCode } from '../../ui/QrCode.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import { WaitingForWallet } from '../../ui/WalletChoice.tsx';
import styles from './deposit.module.css';

interface Props {
  readonly account: Schema['Account'];
  readonly organization: Organization;
}

/** Native currency from the wallet of the browser: that of the person, not of the organization. */
function FromWallet({ account, organization, wallet }: Props & { readonly wallet: FoundWallet }) {
  const networks = organization.networks.filter(({ id }) => account.networks.some((one) => one.id === id));
  const [networkId, setNetworkId] = useState(String(networks[0]?.id ?? ''));
  const [typed, setTyped] = useState('');
  const [isWaiting, setWaiting] = useState(false);
  const [hash, setHash] = useState<string>();
  const [error, setError] = useState<unknown>();
  const controller = useRef<AbortController>(undefined);
  const network = networks.find(({ id }) => String(id) === networkId);
  const amount = network && typed !== '' ? readAmount(typed, network.nativeAsset.decimals) : undefined;
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (!network || !amount || 'error' in amount) return;
    controller.current = new AbortController();
    setWaiting(true);
    setError(undefined);
    try {
      const payment = { chainId: network.id, to: account.address, value: BigInt(amount.raw) };
      setHash(await sendFrom(wallet, payment, controller.current.signal));
      setTyped('');
      expectPayment();
    } catch (reason) {
      setError(reason);
    } finally {
      setWaiting(false);
    }
  };
  return (
    <form className="stack-small" onSubmit={(event) => void send(event)}>
      <div className={formStyles.formPair}>
        <RecordField
          label="Network"
          none="Choose a network"
          records={networks}
          value={networkId}
          onChange={setNetworkId}
        />
        <TextField
          label={`Amount (${network?.nativeAsset.symbol ?? 'native currency'})`}
          inputMode="decimal"
          value={typed}
          error={amount && 'error' in amount ? amount.error : undefined}
          onChange={({ target }) => setTyped(target.value)}
        />
      </div>
      <Button type="submit" busy={isWaiting}>
        Send from {wallet.name}
      </Button>
      {network && typed !== '' ? null : <p className="small">Still needed: amount.</p>}
      <WaitingForWallet wallet={isWaiting ? wallet : undefined} onStop={() => controller.current?.abort()} />
      {error === undefined ? null : <ErrorNotice error={error} />}
      {hash ? (
        <Notice tone="good" title="Sent" urgent>
          <p className="row">
            <ShortText text={hash} of="transaction hash" /> The balance follows once it is in a block.
          </p>
        </Notice>
      ) : null}
    </form>
  );
}

/** How an account gets money: its address, as text and as a code, and a payment from the wallet of the browser. */
export function Deposit({ account, organization }: Props) {
  useStore(wallets);
  const wallet = lastWallet();
  const { name, address, networks } = account;
  return (
    <div data-deposit className={styles.deposit}>
      <QrCode text={address} of={`address of ${name}`} />
      <div className="stack">
        <div className="stack-small">
          <Address address={address} />
          <p className="small muted">
            Send only on {networks.map((one) => one.name).join(', ')}: the account is on no other network.
          </p>
        </div>
        {wallet ? <FromWallet account={account} organization={organization} wallet={wallet} /> : null}
      </div>
    </div>
  );
}
