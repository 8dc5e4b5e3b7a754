import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { createEventFeed } from '../../../src/api/eventFeed';
import type { Credential } from '../../../src/db/credentials';
import type { Db } from '../../../src/db/database';
import { GENESIS_HASH } from '../../../src/domain/feedCursor';
import type { Logger } from '../../../src/logging';
import { anId } from '../../support/builders';

const READER = {
  credential: { kind: 'apiKey', id: anId('key'), organizationId: anId('org') } as Credential,
  types: undefined,
  field: 'after',
};
const PLACE = { position: 0n, hash: GENESIS_HASH };

describe('waiting for an event', () => {
  const wait = (response: EventEmitter & { closed: boolean }) => {
    const feed = createEventFeed({} as Db, {} as Logger);
    const waiting = feed.next(READER, PLACE, {
      ...{ limit: 1, ms: 60_000 },
      response: response as unknown as Response,
    });
    return { feed, waiting };
  };
  const NONE = { entries: [], place: PLACE, hasMore: false };

  it.each([true, false])('ends when the caller has left, before it began (%s) or after', async (closed) => {
    const response = Object.assign(new EventEmitter(), { closed });
    const { waiting } = wait(response);
    if (!closed) response.emit('close');
    expect(await waiting).toEqual(NONE);
  });

  it('ends when the service stops, and begins no more', async () => {
    const response = Object.assign(new EventEmitter(), { closed: false });
    const { feed, waiting } = wait(response);
    feed.stop();
    expect(await waiting).toEqual(NONE);
    expect(() => feed.enter(READER.credential, response as unknown as Response)).toThrow(/stopping/);
    await expect(feed.read(READER, 'latest', 1)).rejects.toThrow(/stopping/);
  });
});
