import type { VerifiedGenesis } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { pins } from '../../api/client.ts';
import { compareDigest } from '../../domain/digestComparison.ts';
import { NotGenesis, readGenesis } from '../../domain/genesisFile.ts';
import { announcement } from '../../state/announcement.ts';
import { useStore } from '../../state/store.ts';
import { Footer } from '../../ui/Footer.tsx';
import { Mismatch } from '../../ui/Mismatch.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Digest } from './Digest.tsx';
import { Founded } from './Founded.tsx';
import styles from './founding.module.css';
import { GenesisFile } from './GenesisFile.tsx';
import { Signing } from './Signing.tsx';

/** A genesis, its digest, and the signature of one founder, unless the others have another digest. */
function Genesis({ genesis }: { readonly genesis: VerifiedGenesis }) {
  const [typed, setTyped] = useState('');
  const comparison = compareDigest(genesis.digest, typed);
  return (
    <>
      <Founded genesis={genesis} />
      <Digest genesis={genesis} typed={typed} comparison={comparison} onTyped={setTyped} />
      {comparison.is === 'different' ? (
        <Notice tone="danger" title="Do not sign: the others have a different digest" urgent>
          <p>
            Somebody has another genesis. Nobody signs until the operator has given all of you the same file.
          </p>
        </Notice>
      ) : (
        <Signing genesis={genesis} />
      )}
    </>
  );
}

/** Why a text is not signed. */
function Refusal({ problem }: { readonly problem: unknown }) {
  return problem instanceof NotGenesis ? (
    <Notice tone="danger" title="Not a genesis" urgent>
      <p>{problem.message}</p>
    </Notice>
  ) : (
    <Mismatch problem={problem} title="Do not sign: the genesis is not what it says" />
  );
}

function Reading({ text }: { readonly text: string }) {
  const reading = useMemo(() => readGenesis(text, pins.get), [text]);
  if ('problem' in reading) return <Refusal problem={reading.problem} />;
  return <Genesis key={reading.genesis.digest} genesis={reading.genesis} />;
}

/**
 * A founder reads a genesis and signs it. There is no organization yet, and so no session: everything is computed from the file,
 * and nothing is sent.
 */
export function FoundingPage() {
  const [text, setText] = useState('');
  const said = useStore(announcement);
  return (
    <div className={styles.founding}>
      <main id="main">
        <p role="status" className="hidden-visually">
          {said}
        </p>
        <Page
          title="Found an organization"
          lead="Each admin of a new organization reads its genesis and signs it. Everything here is computed from the file, in this browser."
          actions={<Link to="/">Sign in</Link>}
        >
          <GenesisFile text={text} onText={setText} />
          {text.trim() === '' ? null : <Reading text={text} />}
        </Page>
      </main>
      <Footer />
    </div>
  );
}
