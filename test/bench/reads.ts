import { HttpsConnection, requestBytes } from './connection';
import { type Comparison, compare } from './figures';
import { many, steadyRates, TOGETHER } from './measure';
import type { ServiceClient } from './serviceClient';
import type { BenchStack } from './stack';

const AIM = { atLeast: 0.8 };

async function open(port: number, ca: string, count: number): Promise<readonly HttpsConnection[]> {
  return Promise.all(many(count, () => HttpsConnection.open(port, ca)));
}

/** Sends a request on a lane's connection. Throws unless it is answered as expected. */
function asking(connections: readonly HttpsConnection[], request: Buffer, expected: number) {
  return async (lane: number) => {
    const answer = await connections[lane]?.send(request);
    if (answer?.status !== expected) throw new Error(`answered ${answer?.status}: ${answer?.body}`);
  };
}

interface Asked {
  readonly lanes: number;
  readonly get: Buffer;
  readonly create: Buffer;
}

async function measureLanes(
  stack: BenchStack,
  floorPort: number,
  { lanes, get, create }: Asked,
): Promise<Comparison[]> {
  const products = await open(stack.httpsPort, stack.ca, lanes);
  const floors = await open(floorPort, stack.ca, lanes);
  const readRow = asking(floors, requestBytes({ path: '/documents/1' }), 200);
  try {
    const { product, floor, bare } = await steadyRates(lanes, {
      product: asking(products, get, 200),
      floor: readRow,
      bare: asking(floors, requestBytes({ path: '/document' }), 200),
    });
    const repeat = await steadyRates(lanes, { product: asking(products, create, 201), floor: readRow });
    const how = lanes === 1 ? 'alone' : `${lanes} at a time`;
    const repeated = { product: repeat.product, base: repeat.floor };
    return [
      compare(`GET a proposal again, ${how} / floor`, '/s', { product, base: floor }, { aim: AIM }),
      compare(`GET a proposal again, ${how} / bare Express`, '/s', { product, base: bare }),
      compare(`an idempotent repeat, ${how} / floor`, '/s', repeated, { aim: AIM }),
    ];
  } finally {
    for (const connection of [...products, ...floors]) connection.close();
  }
}

/** Reading a proposal that has not changed since, and repeating the request that has created it. */
export async function measureReads(stack: BenchStack, service: ServiceClient): Promise<Comparison[]> {
  await service.connect(1);
  const create = service.createRequest();
  const proposal = await service.create(0, create);
  for (const wallet of [0, 1]) await service.sign(await service.signRequest(proposal, wallet));
  const get = service.getRequest(proposal);
  const port = await stack.startFloorServer(JSON.parse(await service.get(get)));
  const comparisons: Comparison[] = [];
  for (const lanes of [1, ...TOGETHER])
    comparisons.push(...(await measureLanes(stack, port, { lanes, get, create })));
  return comparisons;
}
