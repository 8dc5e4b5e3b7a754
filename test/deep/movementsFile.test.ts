import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { text } from 'node:stream/consumers';
import { makeAccount, type Shown } from '../support/api';
import {
  databaseSettings,
  startTestService,
  type TestOrganization,
  type TestService,
} from '../support/service';
import { createTestDatabase, LOCAL_FUNDER } from '../support/stack';
import { logStatements, type StatementLog } from '../support/statementLog';
import { NETWORK_ID } from '../support/transactions';

/** No buffer on the way of a file holds so many rows. */
const ROWS = 40_000;

let log: StatementLog;
let service: TestService;
let org: TestOrganization;

beforeAll(async () => {
  const database = await createTestDatabase();
  log = await logStatements(database.name);
  service = await startTestService({ database: databaseSettings(database) });
  org = await service.createOrganization();
  const account: Shown = await makeAccount(service.http, org, { networkIds: [NETWORK_ID] });
  await service.db.raw(
    `INSERT INTO movements (id, organization_id, account_id, network_id, direction, kind, cause, token_address, amount, counterparty,
       transaction_hash, log_index, block_number, block_hash, block_at, status, verified)
     SELECT 'mov_' || n, :organizationId, :accountId, :networkId, 'in', 'native', 'transfer', '0x' || repeat('0', 40), n, :counterparty,
       '0x' || repeat('a', 64), n, 0, '0x' || repeat('b', 64), now(), 'confirmed', true
     FROM generate_series(1, :rows) n`,
    {
      ...{ organizationId: org.id, accountId: account.id, networkId: NETWORK_ID, rows: ROWS },
      counterparty: LOCAL_FUNDER.address,
    },
  );
});
afterAll(() => service?.stop());

test('a file of movements is read from the database no faster than its reader takes it', async () => {
  const pagesSeen = async () =>
    (await log.readQuiet()).filter((statement) => /from "movements" as "m"/.test(statement.text)).length;
  /** The pages that have been read since the last call, once no more are. */
  async function pagesRead(): Promise<number> {
    let pages = 0;
    for (let quiet = 0; quiet < 3; ) {
      const more = await pagesSeen();
      pages += more;
      quiet = more > 0 ? 0 : quiet + 1;
    }
    return pages;
  }
  await pagesRead();
  const { httpsPort: port, tls } = service.config;
  const asked = get({
    ...{ host: 'localhost', port, ca: readFileSync(tls.certFile), path: '/api/v1/movements' },
    headers: { authorization: `Bearer ${org.readKey}`, accept: 'text/csv' },
  });
  const [file] = (await once(asked, 'response')) as [IncomingMessage];
  const readBefore = await pagesRead();
  expect((await text(file)).split('\r\n')).toHaveLength(ROWS + 2);
  const readAfter = await pagesRead();
  console.info(`${readBefore} pages were read before the reader went on, ${readAfter} after`);
  expect(readBefore).toBeGreaterThan(0);
  expect(readAfter).toBeGreaterThan(readBefore);
});
