import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { orgwallet, queryClient } from '../../api/client.ts';
import { webhooksQuery } from '../../api/webhooks.ts';
import { announce } from '../../state/announcement.ts';
import { errorWithin, fieldErrors } from '../../text/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import formStyles from '../../ui/form.module.css';
import { ErrorNotice } from '../../ui/States.tsx';

const EMPTY = { url: '', types: '', description: '' };

type NewWebhookBody = Parameters<typeof orgwallet.createWebhook>[0];

function requestOf({ url, types, description }: typeof EMPTY): NewWebhookBody {
  const listed = types.split(/[\s,]+/).filter(Boolean) as NonNullable<NewWebhookBody['types']>;
  return { url: url.trim(), types: listed.length > 0 ? listed : null, description };
}

/** Creates a webhook. */
export function NewWebhook() {
  const [draft, setDraft] = useState(EMPTY);
  const change = (part: Partial<typeof EMPTY>) => setDraft({ ...draft, ...part });
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => orgwallet.createWebhook(requestOf(draft)),
    onSuccess: () => {
      announce('Webhook created');
      setDraft(EMPTY);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey }),
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
      <TextField
        label="URL"
        hint="Each event is a signed POST to it, in order."
        value={draft.url}
        error={errors.url}
        onChange={({ target }) => change({ url: target.value })}
      />
      <TextField
        label="Only these types (optional)"
        hint="Comma-separated, for example transaction.executed. Empty: every event."
        value={draft.types}
        error={errorWithin(errors, 'types')}
        onChange={({ target }) => change({ types: target.value })}
      />
      <TextField
        label="Description (optional)"
        value={draft.description}
        error={errors.description}
        onChange={({ target }) => change({ description: target.value })}
      />
      {error ? <ErrorNotice error={error} /> : null}
      <Button look="primary" type="submit" busy={isPending}>
        Create the webhook
      </Button>
    </form>
  );
}
