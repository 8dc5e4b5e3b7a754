import type { Schema } from '@orgwallet/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type Channel, channels, readChannelsAgain } from '../../api/channels.ts';
import { announce } from '../../state/announcement.ts';
import { KIND_NAMES, OCCASIONS } from '../../text/channels.ts';
import { errorWithin, fieldErrors } from '../../text/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { CheckList, RadioGroup } from '../../ui/Choices.tsx';
import { TextField } from '../../ui/Field.tsx';
import formStyles from '../../ui/form.module.css';
import { ErrorNotice } from '../../ui/States.tsx';

const KINDS = (Object.keys(KIND_NAMES) as Channel['kind'][]).map((value) => ({
  value,
  label: KIND_NAMES[value],
}));

const EMPTY = {
  kind: 'slack' as Channel['kind'],
  url: '',
  chatId: '',
  address: '',
  description: '',
  occasions: ['asked', 'reminder', 'failed', 'security'] as readonly string[],
};

const URL_HINTS: { readonly [kind in Channel['kind']]: string } = {
  slack: 'The URL of an incoming webhook: https://hooks.slack.com/services/…',
  discord: 'The URL of a webhook of a channel: https://discord.com/api/webhooks/…',
  telegram: 'https://api.telegram.org/bot and the token of your bot, then /sendMessage',
  email: '',
};

function requestOf(draft: typeof EMPTY, own: boolean): Schema['NewChannelRequest'] {
  const { kind, url, chatId, address, description } = draft;
  const occasions = OCCASIONS.map(({ id }) => id).filter((id) => draft.occasions.includes(id));
  const common = { occasions, description };
  if (kind === 'email') return { ...common, kind, address: address.trim(), own };
  if (kind === 'telegram') return { ...common, kind, url: url.trim(), chatId: chatId.trim() };
  return { ...common, kind, url: url.trim() };
}

/** Adds a channel of the organization, or with `own` the member's own address. */
export function NewChannel({ own = false }: { readonly own?: boolean }) {
  const empty = own ? { ...EMPTY, kind: 'email' as const } : EMPTY;
  const [draft, setDraft] = useState<typeof EMPTY>(empty);
  const change = (part: Partial<typeof EMPTY>) => setDraft({ ...draft, ...part });
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => channels.create(requestOf(draft, own)),
    onSuccess: () => {
      announce(own ? 'Address added' : 'Channel added');
      setDraft(empty);
    },
    onSettled: readChannelsAgain,
  });
  const errors = fieldErrors(error);
  return (
    <form
      className={`card stack ${formStyles.form}`}
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      {own ? null : (
        <RadioGroup label="Where" options={KINDS} value={draft.kind} onChange={(kind) => change({ kind })} />
      )}
      {draft.kind === 'email' ? (
        <TextField
          label="Email address"
          hint="A code is sent there first."
          value={draft.address}
          error={errors.address ?? errors.kind}
          onChange={({ target }) => change({ address: target.value })}
        />
      ) : (
        <TextField
          label="URL"
          hint={`It is a secret, and is not shown again. ${URL_HINTS[draft.kind]}`}
          value={draft.url}
          error={errors.url}
          onChange={({ target }) => change({ url: target.value })}
        />
      )}
      {draft.kind === 'telegram' ? (
        <TextField
          label="Chat"
          hint="The id of the chat, such as -1001234567890, or @ and the name of a public channel."
          value={draft.chatId}
          error={errors.chatId}
          onChange={({ target }) => change({ chatId: target.value })}
        />
      ) : null}
      <CheckList
        label="Notify about"
        empty=""
        options={OCCASIONS}
        chosen={draft.occasions}
        error={errorWithin(errors, 'occasions')}
        onChange={(occasions) => change({ occasions })}
      />
      {own ? null : (
        <TextField
          label="Description (optional)"
          value={draft.description}
          error={errors.description}
          onChange={({ target }) => change({ description: target.value })}
        />
      )}
      {error ? <ErrorNotice error={error} /> : null}
      <Button look="primary" type="submit" busy={isPending}>
        {own ? 'Add the address' : 'Add the channel'}
      </Button>
    </form>
  );
}
