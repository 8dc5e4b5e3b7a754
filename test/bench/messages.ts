import { type Comparison, compare } from './figures';
import type { FloorClient } from './floor/client';
import { ALONE, inTurn, many, TOGETHER, timesTogether } from './measure';
import type { PaymentsClient } from './paymentsClient';
import type { ServiceClient } from './serviceClient';

const ALONE_AIM = { atMost: 1.3 };
const MOST_TOGETHER = 50;
const MOST_TOGETHER_AIM = { atMost: 1.5 };

function compared(
  what: string,
  taken: Readonly<Record<'product' | 'floor' | 'bare', readonly number[]>>,
  names: { readonly floor: string; readonly bare: string },
  aim: { readonly atMost: number } | undefined,
): Comparison[] {
  const { product } = taken;
  return [
    compare(`${what} / ${names.floor}`, 'ms', { product, base: taken.floor }, aim ? { aim } : {}),
    compare(`${what} / ${names.bare}`, 'ms', { product, base: taken.bare }),
  ];
}

const CREATE_NAMES = { floor: 'floor', bare: 'bare executeUpdateWithStart' };
const SIGN_NAMES = { floor: 'floor', bare: 'bare executeUpdate' };

/** What is created beside the floor's request: proposals, or transactions. */
interface Creator {
  readonly what: string;
  connect(count: number): Promise<void>;
  createRequest(): Buffer;
  create(connection: number, request: Buffer): Promise<unknown>;
}

function creators(service: ServiceClient, payments: PaymentsClient): readonly Creator[] {
  const of = (what: string, client: ServiceClient | PaymentsClient): Creator => ({
    what,
    connect: (count) => client.connect(count),
    createRequest: () => client.createRequest(),
    create: (connection, request) => client.create(connection, request),
  });
  return [of('create a proposal', service), of('create a transaction', payments)];
}

async function measureCreator(creator: Creator, floor: FloorClient): Promise<Comparison[]> {
  const { what } = creator;
  await creator.connect(1);
  const alone = await inTurn({
    product: () => creator.create(0, creator.createRequest()),
    floor: () => floor.create(),
    bare: () => floor.bareStart(),
  });
  const comparisons = compared(`${what}, alone`, alone, CREATE_NAMES, ALONE_AIM);
  for (const count of TOGETHER) {
    await creator.connect(count);
    const taken = await timesTogether(count, {
      product: async (calls) =>
        many(calls, () => {
          const request = creator.createRequest();
          return (call: number) => creator.create(call, request);
        }),
      floor: async (calls) => many(calls, () => () => floor.create()),
      bare: async (calls) => many(calls, () => () => floor.bareStart()),
    });
    const aim = count === MOST_TOGETHER ? MOST_TOGETHER_AIM : undefined;
    comparisons.push(...compared(`${what}, ${count} at once`, taken, CREATE_NAMES, aim));
  }
  return comparisons;
}

/** Creating proposals and transactions. */
export async function measureCreate(
  service: ServiceClient,
  payments: PaymentsClient,
  floor: FloorClient,
): Promise<Comparison[]> {
  const all: Comparison[] = [];
  for (const creator of creators(service, payments)) all.push(...(await measureCreator(creator, floor)));
  return all;
}

/** Signatures for what was created before: two for each, one after the other. */
async function signaturesAlone(service: ServiceClient, floor: FloorClient) {
  const product: (() => Promise<void>)[] = [];
  const floors: (() => Promise<void>)[] = [];
  const bare: (() => Promise<void>)[] = [];
  while (product.length < ALONE.warmUp + ALONE.counted) {
    const proposal = await service.create();
    const [approvalId, bareId] = [await floor.create(), await floor.bareStart()];
    for (const wallet of [0, 1]) {
      const request = await service.signRequest(proposal, wallet);
      product.push(() => service.sign(request));
      floors.push(() => floor.sign(approvalId, wallet));
      bare.push(() => floor.bareUpdate(bareId));
    }
  }
  const call = (calls: readonly (() => Promise<void>)[]) => async (round: number) => calls[round]?.();
  return inTurn({ product: call(product), floor: call(floors), bare: call(bare) });
}

/** Signing proposals that wait for more signatures. */
export async function measureSign(service: ServiceClient, floor: FloorClient): Promise<Comparison[]> {
  await service.connect(1);
  const comparisons = compared('sign, alone', await signaturesAlone(service, floor), SIGN_NAMES, ALONE_AIM);
  for (const count of TOGETHER) {
    await service.connect(count);
    const taken = await timesTogether(count, {
      product: async (calls) => {
        const proposals = await Promise.all(many(calls, (call) => service.create(call)));
        const requests = await Promise.all(proposals.map((proposal) => service.signRequest(proposal, 0)));
        return requests.map((request) => (call: number) => service.sign(request, call));
      },
      floor: async (calls) => {
        const ids = await Promise.all(many(calls, () => floor.create()));
        return ids.map((id) => () => floor.sign(id, 0));
      },
      bare: async (calls) => {
        const ids = await Promise.all(many(calls, () => floor.bareStart()));
        return ids.map((id) => () => floor.bareUpdate(id));
      },
    });
    const aim = count === MOST_TOGETHER ? MOST_TOGETHER_AIM : undefined;
    comparisons.push(...compared(`sign, ${count} at once`, taken, SIGN_NAMES, aim));
  }
  return comparisons;
}
