import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import {
  missingSearchAttributes,
  registerSearchAttributes,
  SearchAttributesMissing,
} from '../../src/temporal/registeredAttributes';
import { searchAttributes } from '../../src/temporal/searchAttributes';
import { sharedStack } from '../support/stack';
import { until } from '../support/until';

const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const keys = Object.values(searchAttributes);

let connection: Connection;
let namespace: string;

beforeAll(async () => {
  connection = await Connection.connect({ address: sharedStack().temporalAddress });
  namespace = `attributes-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  await until('there is the namespace', async () => {
    const counted = connection.workflowService.countWorkflowExecutions({ namespace, query: '' });
    return counted.then(() => true).catch(() => false);
  });
});
afterAll(() => connection?.close());

/** A connection to a server whose operator service refuses every call, as Temporal Cloud does. */
function withoutOperator(code: number) {
  const refused = Object.assign(new Error('refused'), { code, details: 'refused', metadata: {} });
  const operatorService = { addSearchAttributes: () => Promise.reject(refused) };
  return { workflowService: connection.workflowService, operatorService } as unknown as Connection;
}

test('search attributes that nobody has created are added; where that is refused, the error names them', async () => {
  expect(await missingSearchAttributes(connection, namespace)).toEqual(keys);
  for (const code of [PERMISSION_DENIED, UNIMPLEMENTED]) {
    const refused = registerSearchAttributes(withoutOperator(code), namespace);
    await expect(refused).rejects.toThrow(SearchAttributesMissing);
    await expect(refused).rejects.toThrow(/OrganizationId \(KEYWORD\).*ExpiresAt \(DATETIME\)$/);
  }
  await registerSearchAttributes(connection, namespace);
  await until('there are all', async () => {
    return (await missingSearchAttributes(connection, namespace)).length === 0;
  });
  await registerSearchAttributes(withoutOperator(PERMISSION_DENIED), namespace);
});
