// Signs a payload: reads typed data (JSON text) on standard input, prints the encoded signature that the API takes.
//   PRIVATE_KEY=0x… node docs/examples/sign.mjs < payload.json
import { readFileSync } from 'node:fs';
import { encodeAbiParameters } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const wallet = privateKeyToAccount(process.env.PRIVATE_KEY);
const bytes = await wallet.signTypedData(JSON.parse(readFileSync(0, 'utf8')));
console.log(encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [wallet.address, bytes]));
