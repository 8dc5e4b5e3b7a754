import { PayloadMismatch } from '@orgwallet/client';
import type { RescueKit } from '@orgwallet/client/rescue';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { rescueKitQuery } from '../../api/rescueKit.ts';
import { useSession } from '../../api/useSession.ts';
import { rememberKit, savedKit } from '../../state/savedKit.ts';
import { counted } from '../../text/counted.ts';
import { dateTime } from '../../text/time.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { download } from '../../ui/download.ts';
import { Facts } from '../../ui/Facts.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { ShortText } from '../../ui/ShortText.tsx';
import { ErrorNotice, Loading } from '../../ui/States.tsx';

/** When a kit was saved, and how old it is in what the admins have decided since. */
function Saved({ kit }: { readonly kit: RescueKit }) {
  const saved = savedKit(kit.organization.id);
  if (!saved) return <Badge tone="warning">not saved with this browser yet</Badge>;
  const since = kit.sequence - saved.sequence;
  return (
    <span className="row">
      <time dateTime={saved.savedAt}>{dateTime(saved.savedAt)}</time>
      {since > 0 ? (
        <Badge tone="warning">{counted(since, 'decision')} since: save it again</Badge>
      ) : (
        <Badge tone="good">up to date</Badge>
      )}
    </span>
  );
}

/** Why there is no kit to save. */
function KitError({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  if (!(error instanceof PayloadMismatch)) return <ErrorNotice error={error} retry={retry} />;
  return (
    <Notice tone="danger" title="The service sent an invalid kit" urgent>
      <p>{error.message}. Nothing was saved.</p>
      <p>Keep the last kit that you saved, and ask the other admins what they see.</p>
    </Notice>
  );
}

/** The file with which the admins take the accounts over: saved here, in as many places as one likes. */
export function KitSection() {
  const { organization } = useSession();
  const { data: kit, error, refetch } = useQuery(rescueKitQuery(organization.id));
  const [, setSavedAt] = useState('');
  const save = async () => {
    const { data, error: failed } = await refetch();
    if (!data || failed) return;
    download(`rescue-kit-${data.sequence}.json`, 'application/json', `${JSON.stringify(data, null, 2)}\n`);
    rememberKit(data);
    setSavedAt(data.createdAt);
  };
  return (
    <Section
      title="Rescue kit"
      id="kit"
      aside={
        <Button look="primary" onClick={() => void save()}>
          Save the rescue kit
        </Button>
      }
    >
      <div className="card stack">
        <p>
          Save it whenever accounts or admins change, in several places that do not depend on this service. It
          has no secret: addresses, names, and the transactions that the admins would sign. Keep{' '}
          <code>rescue.html</code> of the release beside it; its SHA-256 is in <code>SHA256SUMS</code>.
        </p>
        {error ? <KitError error={error} retry={() => void refetch()} /> : null}
        {kit && !error ? (
          <Facts
            rows={[
              ['Last saved', <Saved key="saved" kit={kit} />],
              ['Contents', `${counted(kit.networks.length, 'network')}, as of decision ${kit.sequence}`],
              ['Keeper', <ShortText key="keeper" text={kit.keeper} of="address of the keeper" />],
              ['Latest seal', <ShortText key="hash" text={kit.head.sealHash} of="hash of the latest seal" />],
            ]}
          />
        ) : null}
        {kit || error ? null : <Loading what="the rescue kit" />}
      </div>
    </Section>
  );
}
