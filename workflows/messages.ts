import { condition, currentUpdateInfo, log, setHandler, uuid4 } from '@temporalio/workflow';
import type { Subject } from '../src/domain/approval';
import type { ApprovalState } from '../src/domain/approvalState';
import {
  type ApprovalMessages,
  type ExecuteMessage,
  type MessageResult,
  type Parser,
  parseExecuteMessage,
  parseMessageId,
  type SignMessage,
} from '../src/temporal/messages';

/** The handlers of a workflow's messages. Each is called once the record exists. */
interface MessageReceiver<S extends ApprovalState> {
  readonly subject: Subject;
  readonly parseSignMessage: Parser<SignMessage>;
  readonly state: () => S | null;
  /** The outcome of the creation; undefined before it. */
  readonly created: () => MessageResult<S> | undefined;
  readonly sign: (messageId: string, message: SignMessage) => Promise<MessageResult<S>>;
  readonly execute: (messageId: string, message: ExecuteMessage) => Promise<MessageResult<S>>;
  readonly retry: (messageId: string) => Promise<MessageResult<S>>;
  /** Only a transaction can be cancelled. */
  readonly cancel?: (messageId: string) => Promise<MessageResult<S>>;
  readonly refresh: () => Promise<void>;
}

/**
 * The id of the update that is being handled. A message that carries a request has the id of that instead: it may be sent in
 * several updates, and takes effect once. A text that can be stored. Throws TypeError.
 */
function updateId(): string {
  return parseMessageId(currentUpdateInfo()?.id ?? uuid4());
}

const signalId = () => `signal/${uuid4()}`;

/** Rejects an update whose id cannot be stored, before it is accepted. */
function checkUpdateId(): void {
  updateId();
}

/**
 * Registers the handlers of every message that an approval's workflow takes. Messages are untrusted: anyone who can
 * reach Temporal can send them. They are parsed first. An approval whose creation was refused answers every message with
 * that refusal.
 */
export function receiveMessages<S extends ApprovalState>(
  messages: ApprovalMessages<S>,
  receiver: MessageReceiver<S>,
): void {
  const { subject, parseSignMessage, cancel } = receiver;
  const created = async () => {
    await condition(() => receiver.created() !== undefined);
    return receiver.created() as MessageResult<S>;
  };
  const whenCreated = async (handle: () => Promise<MessageResult<S>>) => {
    const outcome = receiver.created() ?? (await created());
    return outcome.ok ? handle() : outcome;
  };

  setHandler(messages.state, () => receiver.state(), { description: `The state of the ${subject}` });
  setHandler(messages.created, created, { description: 'Waits for the outcome of the creation' });
  setHandler(
    messages.sign,
    (message) => {
      const parsed = parseSignMessage(message);
      const id = parsed.requestId ?? updateId();
      return whenCreated(() => receiver.sign(id, parsed));
    },
    {
      validator: (message) => {
        checkUpdateId();
        parseSignMessage(message);
      },
      description: 'Sign',
    },
  );
  setHandler(
    messages.signSignal,
    async (message) => {
      let parsed: SignMessage;
      try {
        parsed = parseSignMessage(message);
      } catch (error) {
        log.warn('invalid signature message ignored', { reason: (error as Error).message });
        return;
      }
      await whenCreated(() => receiver.sign(signalId(), parsed));
    },
    { description: 'Sign, without waiting for an answer' },
  );
  setHandler(
    messages.execute,
    (message) => {
      const parsed = parseExecuteMessage(message);
      const id = parsed.requestId ?? updateId();
      return whenCreated(() => receiver.execute(id, parsed));
    },
    {
      validator: (message) => {
        checkUpdateId();
        parseExecuteMessage(message);
      },
      description: 'Execute a decision whose threshold is met',
    },
  );
  receiveCommands(messages, receiver, whenCreated);
  setHandler(
    messages.refresh,
    async () => {
      if ((await created()).ok) await receiver.refresh();
    },
    { description: 'Read the record again: something outside has changed' },
  );
  if (cancel) receiveCancellation(messages, cancel, whenCreated);
}

type WhenCreated<S extends ApprovalState> = (
  handle: () => Promise<MessageResult<S>>,
) => Promise<MessageResult<S>>;

function receiveCommands<S extends ApprovalState>(
  messages: ApprovalMessages<S>,
  { retry }: MessageReceiver<S>,
  whenCreated: WhenCreated<S>,
): void {
  const description = 'Retry a failed or blocked execution';
  setHandler(
    messages.retryExecution,
    () => {
      const id = updateId();
      return whenCreated(() => retry(id));
    },
    { validator: checkUpdateId, description },
  );
  setHandler(
    messages.retryExecutionSignal,
    async () => {
      await whenCreated(() => retry(signalId()));
    },
    { description },
  );
}

function receiveCancellation<S extends ApprovalState>(
  messages: ApprovalMessages<S>,
  cancel: NonNullable<MessageReceiver<S>['cancel']>,
  whenCreated: WhenCreated<S>,
): void {
  const description = 'Cancel the in-flight transaction';
  setHandler(
    messages.cancelTransaction,
    () => {
      const id = updateId();
      return whenCreated(() => cancel(id));
    },
    { validator: checkUpdateId, description },
  );
  setHandler(
    messages.cancelTransactionSignal,
    async () => {
      await whenCreated(() => cancel(signalId()));
    },
    { description },
  );
}
