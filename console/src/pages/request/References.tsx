import type { Transaction } from '@orgwallet/client';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { orgwallet, queryClient } from '../../api/client.ts';
import { once } from '../../api/once.ts';
import { metadataText, readMetadata, tagsIn, tagsText } from '../../domain/references.ts';
import { announce } from '../../state/announcement.ts';
import { Button } from '../../ui/Button.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { TextArea, TextField } from '../../ui/Field.tsx';
import { Section } from '../../ui/Page.tsx';
import { ErrorNotice } from '../../ui/States.tsx';

function EditDialog({
  transaction,
  onClose,
}: {
  readonly transaction: Transaction;
  readonly onClose: () => void;
}) {
  const { id } = transaction;
  const [tags, setTags] = useState(tagsText(transaction.tags));
  const [text, setText] = useState(metadataText(transaction.metadata));
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const read = readMetadata(text);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if ('error' in read) return;
    setSending(true);
    const change = { tags: tagsIn(tags), metadata: read.metadata };
    try {
      const changed = await once(JSON.stringify(['references', id, change]), (idempotencyKey) =>
        orgwallet.changeReferences(id, change, { idempotencyKey }),
      );
      queryClient.setQueryData(['approval', id], changed);
      announce('References saved');
      onClose();
    } catch (reason) {
      setError(reason);
      setSending(false);
    }
  };
  return (
    <Dialog open title="Change tags and metadata" onClose={onClose}>
      <form className="stack" noValidate onSubmit={(event) => void send(event)}>
        <TextField
          label="Tags"
          hint="Separated by commas."
          value={tags}
          onChange={({ target }) => setTags(target.value)}
        />
        <TextArea
          label="Metadata"
          hint="A name, a colon and a value on each line."
          value={text}
          error={'error' in read ? read.error : undefined}
          onChange={({ target }) => setText(target.value)}
        />
        {error === undefined ? null : <ErrorNotice error={error} />}
        <div className="row">
          <Button look="primary" type="submit" busy={isSending} disabled={'error' in read}>
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** What a transaction is known by in the records of others, and a way to change what may change of it. */
export function References({ transaction }: { readonly transaction: Transaction }) {
  const [isOpen, setOpen] = useState(false);
  const { externalId, tags, metadata } = transaction;
  const pairs = Object.entries(metadata);
  const isEmpty = externalId === undefined && tags.length === 0 && pairs.length === 0;
  return (
    <Section title="References" id="references" aside={<Button onClick={() => setOpen(true)}>Change</Button>}>
      <div className="card stack-small">
        <p className="small muted">
          {isEmpty ? 'None. ' : ''}References are not signed: members and API keys can change tags and
          metadata.
        </p>
        {isEmpty ? null : (
          <Facts
            rows={[
              [
                'Your own id',
                externalId === undefined ? undefined : (
                  <span key="externalId">
                    <bdi>{externalId}</bdi> <Copy text={externalId} of="your own id" />
                  </span>
                ),
              ],
              [
                'Tags',
                tags.length === 0 ? undefined : (
                  <span key="tags" className="row">
                    {tags.map((tag) => (
                      <Link key={tag} to="/requests" search={{ tab: 'done', tag }}>
                        <bdi>{tag}</bdi>
                      </Link>
                    ))}
                  </span>
                ),
              ],
              ...pairs.map(([name, value]) => [name, <bdi key={name}>{value}</bdi>] as const),
            ]}
          />
        )}
      </div>
      {isOpen ? <EditDialog transaction={transaction} onClose={() => setOpen(false)} /> : null}
    </Section>
  );
}
