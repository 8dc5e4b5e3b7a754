import { createEntry, importEntries, removeEntry, updateEntry } from '../../addressBook/bookChanges';
import { writeCsv } from '../../addressBook/csv';
import type { NamedAddress } from '../../addressBook/edits';
import { readImport } from '../../addressBook/importedRows';
import { checksumAddress } from '../../chain/address';
import type { NetworkConfig } from '../../config';
import {
  createAddressBookEntryEndpoint,
  exportAddressBookEndpoint,
  getAddressBookEntryEndpoint,
  importAddressBookEndpoint,
  listAddressBookEndpoint,
  removeAddressBookEntryEndpoint,
  updateAddressBookEntryEndpoint,
} from '../../contract/addressBookContract';
import { type AddressBookEntry, findAddressBookEntry, listAddressBook } from '../../db/addressBook';
import type { Db } from '../../db/database';
import type { StoredAnswer } from '../../db/idempotency';
import { newId } from '../../db/ids';
import { shortNameOf } from '../../domain/chainShortName';
import type { Result } from '../../domain/refusal';
import type { Cursors } from '../cursors';
import type { RequestRef } from '../idempotency';
import { DEFAULT_LIMIT, page, pageRequest } from '../pages';
import { acceptOrThrow, badRequest, notFound } from '../refusals';
import { mutationRoute, type RequestContext, type Route, readRoute } from '../requestContext';

interface Deps {
  readonly db: Db;
  readonly cursors: Cursors;
  readonly networks: readonly NetworkConfig[];
}

function entryView({ id, name, address, networkId, createdAt, updatedAt }: AddressBookEntry) {
  return {
    id,
    name,
    address,
    networkId,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

const answerOf = (data: object): StoredAnswer => ({
  status: 200,
  body: JSON.stringify({ data }),
  location: null,
});
const answerOfEntry = (entry: AddressBookEntry) => answerOf(entryView(entry));

/** The answer that was stored with its effect. */
function mutationAnswer<Body>(stored: Result<StoredAnswer>): { body: Body; location: string | null } {
  const { body, location } = acceptOrThrow(stored);
  return { body: JSON.parse(body), location };
}

const requestOf = (
  { organizationId, credential }: Pick<RequestContext, 'organizationId' | 'credential'>,
  { id }: Pick<RequestRef, 'id'>,
) => ({ organizationId, requestId: id, credentialId: credential.id });

function readRoutes({ db, cursors, networks }: Deps): Route[] {
  return [
    readRoute(listAddressBookEndpoint, async ({ organizationId, query }) => {
      const { cursor, limit, text } = query;
      const only = text === undefined ? {} : { text };
      if (cursor === undefined && limit === undefined) {
        return { data: (await listAddressBook(db, { organizationId, ...only })).map(entryView) };
      }
      const scope = { organizationId, list: 'address-book' };
      const request = pageRequest(cursors, scope, { cursor, limit }, { text }, DEFAULT_LIMIT);
      const { before, filters } = request;
      const rows = await listAddressBook(db, {
        ...filters,
        organizationId,
        limit: request.limit + 1,
        ...(before === undefined ? {} : { before }),
      });
      return page(cursors, scope, request, rows, entryView);
    }),
    readRoute(getAddressBookEntryEndpoint, async ({ organizationId, params }) => {
      const entry = await findAddressBookEntry(db, organizationId, params.entryId ?? '');
      if (!entry) throw notFound('entry');
      return { data: entryView(entry) };
    }),
    readRoute(exportAddressBookEndpoint, async ({ organizationId }) => {
      const names = new Map(networks.map((network) => [network.id, shortNameOf(network)]));
      const entries = await listAddressBook(db, { organizationId });
      return { data: { csv: writeCsv(entries, (id) => names.get(id)) } };
    }),
  ];
}

/** What a body may say of an entry. */
type Body = { readonly [Field in keyof NamedAddress]?: NamedAddress[Field] | undefined };

/** What a body says, with its address as it is stored. Refuses a network that is not configured. */
function contentIn({ name, address, networkId }: Body, networks: Deps['networks']): Partial<NamedAddress> {
  if (typeof networkId === 'number' && !networks.some(({ id }) => id === networkId)) {
    const ids = networks.map(({ id }) => id).join(', ');
    const message = `network ${networkId} is not configured (available: ${ids})`;
    throw badRequest([{ field: 'networkId', message }]);
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(address === undefined ? {} : { address: checksumAddress(address) }),
    ...(networkId === undefined ? {} : { networkId }),
  };
}

/** Everything about the address book of an organization. */
export function addressBookRoutes(deps: Deps): Route[] {
  const { db, networks } = deps;
  return [
    ...readRoutes(deps),
    mutationRoute(createAddressBookEntryEndpoint, {
      async check({ body }) {
        contentIn(body, networks);
        return { resourceId: newId('adr') };
      },
      async send(context, request) {
        const { name } = context.body;
        const content = { networkId: null, name, address: '', ...contentIn(context.body, networks) };
        const asked = { ...requestOf(context, request), id: request.resourceId, content };
        return mutationAnswer(await createEntry(db, asked, answerOfEntry));
      },
    }),
    mutationRoute(updateAddressBookEntryEndpoint, {
      async check({ organizationId, params, body }) {
        contentIn(body, networks);
        const id = params.entryId ?? '';
        if (!(await findAddressBookEntry(db, organizationId, id))) throw notFound('entry');
        return { resourceId: id };
      },
      async send(context, request) {
        const change = contentIn(context.body, networks);
        const asked = { ...requestOf(context, request), id: request.resourceId, change };
        return mutationAnswer(await updateEntry(db, asked, answerOfEntry));
      },
    }),
    mutationRoute(removeAddressBookEntryEndpoint, {
      async check({ organizationId, params }) {
        const id = params.entryId ?? '';
        if (!(await findAddressBookEntry(db, organizationId, id))) throw notFound('entry');
        return { resourceId: id };
      },
      async send(context, request) {
        const asked = { ...requestOf(context, request), id: request.resourceId };
        return mutationAnswer(await removeEntry(db, asked, answerOfEntry));
      },
    }),
    mutationRoute(importAddressBookEndpoint, {
      async check({ body }) {
        acceptOrThrow(readImport(body.csv, networks));
        return { resourceId: '' };
      },
      async send(context, request) {
        const rows = acceptOrThrow(readImport(context.body.csv, networks));
        return mutationAnswer(await importEntries(db, { ...requestOf(context, request), rows }, answerOf));
      },
    }),
  ];
}
