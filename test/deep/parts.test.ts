import { Client } from 'pg';
import {
  createTestDatabase,
  rpc,
  sharedStack,
  startOwnChain,
  startOwnPostgres,
  startOwnTemporal,
} from '../support/stack';

async function query(url: string, sql: string) {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('the shared stack', () => {
  it('copies a migrated database per test file', async () => {
    const database = await createTestDatabase();
    expect(await query(database.url, 'select name from schema_migrations')).not.toHaveLength(0);
    await database.drop();
  });

  it('has both chains with the Safe contracts and the demo token at one address', async () => {
    const { chains } = sharedStack();
    expect(chains.map((chain) => chain.chainId)).toEqual([31337, 31338]);
    expect(chains[0]?.token).toEqual(chains[1]?.token);
    for (const { rpcUrl, token } of chains) {
      for (const address of [
        '0x29fcB43b46531BcA003ddC8FCB67FFE91900C762',
        '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
        '0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99',
        token.address,
      ]) {
        expect((await rpc<string>(rpcUrl, 'eth_getCode', [address, 'latest'])).length).toBeGreaterThan(100);
      }
    }
  });
});

describe('a part that a test owns', () => {
  it('is a Postgres that keeps its rows after kill -9', async () => {
    const postgres = await startOwnPostgres();
    await query(postgres.database.url, 'create table kept (n int)');
    await query(postgres.database.url, 'insert into kept values (1)');
    await postgres.kill();
    await expect(query(postgres.database.url, 'select 1')).rejects.toThrow();
    await postgres.start();
    expect(await query(postgres.database.url, 'select n from kept')).toEqual([{ n: 1 }]);
    await postgres.stop();
  });

  it('is a Temporal server that restarts after kill -9', async () => {
    const temporal = await startOwnTemporal();
    await temporal.kill();
    await temporal.start();
    await temporal.stop();
  });

  it('is a chain that keeps its state after a stop and confirms transactions', async () => {
    const chain = await startOwnChain(31_999);
    const { rpcUrl, token } = chain.current;
    const balanceOf = () =>
      rpc<string>(rpcUrl, 'eth_getBalance', ['0x000000000000000000000000000000000000dEaD', 'latest']);
    const before = Number(await rpc<string>(rpcUrl, 'eth_blockNumber'));
    await rpc(rpcUrl, 'eth_sendTransaction', [
      {
        from: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
        to: '0x000000000000000000000000000000000000dEaD',
        value: '0x5',
      },
    ]);
    while (Number(await rpc<string>(rpcUrl, 'eth_blockNumber')) < before + 2) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await chain.stop();
    await chain.start();
    expect(await balanceOf()).toBe('0x5');
    expect(chain.current.token).toEqual(token);
    await chain.stop();
  });
});
