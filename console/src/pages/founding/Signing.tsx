import { type Founder, type VerifiedGenesis, visible } from '@orgwallet/client';
import { useRef, useState } from 'react';
import { signGenesis } from '../../signing/founding.ts';
import type { FoundWallet } from '../../signing/wallet.ts';
import { signatureFile } from '../../text/founding.ts';
import { Address } from '../../ui/Address.tsx';
import { Button } from '../../ui/Button.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { download } from '../../ui/download.ts';
import { RecordField } from '../../ui/Field.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { ErrorNotice } from '../../ui/States.tsx';
import { WaitingForWallet, WalletChoice } from '../../ui/WalletChoice.tsx';

interface Props {
  readonly genesis: VerifiedGenesis;
  readonly founder: Founder;
}

/** The signature of a founder, which the operator stores. */
function Signed({ genesis, founder, signature }: Props & { readonly signature: string }) {
  const file = signatureFile(genesis, founder, signature);
  return (
    <Notice tone="good" title={`Signed by “${visible(founder.name)}”`} urgent>
      <p>Give the signature to the operator, over any channel: it permits this genesis and nothing else.</p>
      <div className="row">
        <Button look="primary" onClick={() => download(file.name, 'application/json', file.text)}>
          Save {file.name}
        </Button>
        <Copy text={signature} of="the signature" />
      </div>
      <pre className="small">{signature}</pre>
    </Notice>
  );
}

/** Has the wallet of one founder sign. */
function FounderSigning({ genesis, founder }: Props) {
  const [waitingFor, setWaitingFor] = useState<FoundWallet>();
  const [signature, setSignature] = useState<string>();
  const [error, setError] = useState<unknown>();
  const controller = useRef<AbortController>(undefined);

  const sign = async (wallet: FoundWallet) => {
    setError(undefined);
    setWaitingFor(wallet);
    controller.current = new AbortController();
    try {
      setSignature(await signGenesis(genesis, founder, wallet, controller.current.signal));
    } catch (reason) {
      setError(reason);
    } finally {
      setWaitingFor(undefined);
    }
  };
  return (
    <>
      <p>
        Your wallet: <Address address={founder.walletAddress} copy={false} />
        {founder.walletKind === 'contract' ? ' (a contract wallet)' : null}. Compare it with the screen of the
        wallet, and confirm it aloud.
      </p>
      {error === undefined ? null : <ErrorNotice error={error} />}
      {signature === undefined ? (
        <WalletChoice verb="Sign" waitingFor={waitingFor} onChoice={(wallet) => void sign(wallet)} />
      ) : (
        <Signed genesis={genesis} founder={founder} signature={signature} />
      )}
      <WaitingForWallet wallet={waitingFor} onStop={() => controller.current?.abort()} />
    </>
  );
}

/** A founder says who they are, and signs. */
export function Signing({ genesis }: { readonly genesis: VerifiedGenesis }) {
  const [id, setId] = useState('');
  const founder = genesis.admins.find((admin) => admin.id === id);
  return (
    <Section title="Sign" id="sign">
      <div className="card stack">
        <RecordField
          label="You are"
          none="choose yourself"
          records={genesis.admins.map((admin) => ({ id: admin.id, name: visible(admin.name) }))}
          value={id}
          onChange={setId}
        />
        {founder ? <FounderSigning key={id} genesis={genesis} founder={founder} /> : null}
      </div>
    </Section>
  );
}
