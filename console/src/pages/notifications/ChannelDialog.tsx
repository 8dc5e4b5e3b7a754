import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type Channel, channels, readChannelsAgain } from '../../api/channels.ts';
import { announce } from '../../state/announcement.ts';
import { channelState, OCCASIONS } from '../../text/channels.ts';
import { errorWithin, fieldErrors } from '../../text/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { CheckList } from '../../ui/Choices.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/States.tsx';

/** Confirms an address with the code that was sent there. */
function ConfirmAddress({ of: { id, target } }: { readonly of: Channel }) {
  const [code, setCode] = useState('');
  const confirm = useMutation({
    mutationFn: () => channels.confirm(id, code.trim()),
    onSuccess: readChannelsAgain,
  });
  const again = useMutation({ mutationFn: () => channels.sendCode(id) });
  const error = confirm.error ?? again.error;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        confirm.mutate();
      }}
    >
      <TextField
        label="Code"
        hint={`The 8 digits of the mail to ${target}, within 30 minutes.`}
        inputMode="numeric"
        value={code}
        error={fieldErrors(confirm.error).code}
        onChange={({ target: input }) => setCode(input.value)}
      />
      {error ? <ErrorNotice error={error} /> : null}
      <div className="row">
        <Button look="primary" type="submit" busy={confirm.isPending}>
          Confirm the address
        </Button>
        <Button busy={again.isPending} onClick={() => again.mutate()}>
          Send another code
        </Button>
      </div>
    </form>
  );
}

/** One channel: what it is for, a test, and its end. */
export function ChannelDialog({
  of: channel,
  onClose,
}: {
  readonly of: Channel;
  readonly onClose: () => void;
}) {
  const { id, target, enabled, status } = channel;
  const [chosen, setChosen] = useState<readonly string[]>(channel.occasions);
  const occasions = OCCASIONS.map((one) => one.id).filter((one) => chosen.includes(one));
  const update = useMutation({
    mutationFn: (body: Parameters<typeof channels.update>[1]) => channels.update(id, body),
    onSettled: readChannelsAgain,
  });
  const test = useMutation({ mutationFn: () => channels.test(id), onSettled: readChannelsAgain });
  const remove = useMutation({
    mutationFn: () => channels.remove(id),
    onSuccess: () => {
      announce('Channel removed');
      onClose();
    },
    onSettled: readChannelsAgain,
  });
  const error = update.error ?? test.error ?? remove.error;
  return (
    <Dialog open title={target} onClose={onClose}>
      <Facts rows={[['State', channelState(channel)]]} />
      {status === 'unconfirmed' ? (
        <ConfirmAddress of={channel} />
      ) : (
        <>
          <CheckList
            label="Notify about"
            empty=""
            options={OCCASIONS}
            chosen={chosen}
            error={errorWithin(fieldErrors(update.error), 'occasions')}
            onChange={setChosen}
          />
          <div className="row">
            <Button busy={update.isPending} onClick={() => update.mutate({ occasions })}>
              Save
            </Button>
            <Button onClick={() => update.mutate({ enabled: !enabled })}>
              {enabled ? 'Disable' : 'Enable'}
            </Button>
            <Button busy={test.isPending} onClick={() => test.mutate()}>
              Send a test
            </Button>
          </div>
          {test.data ? (
            <p role="status">
              {test.data.taken ? 'The test was accepted.' : `Not accepted: ${test.data.message ?? ''}`}
            </p>
          ) : null}
        </>
      )}
      {error ? <ErrorNotice error={error} /> : null}
      <div className="row">
        <Button look="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          Remove
        </Button>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
