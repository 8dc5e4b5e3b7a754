import './rescue.css';
import {
  checkRescueKit,
  executionData,
  type KitNetwork,
  kitHash,
  type RescueKit,
  safeAbi,
} from '@orgwallet/client/rescue';
import { type Address, encodeFunctionData, formatUnits, type Hex } from 'viem';
import { type Place, type Prepared, payment, takeover } from './adminsTransaction.ts';
import { type BrowserWallet, connect, findWallets, receiptOf } from './browserWallet.ts';
import { type AccountOnChain, approvalsOf, type ChainState, isAmong, readChain } from './chainState.ts';
import { element, facts, fillChoices, list, make, notice, onClick } from './page.ts';
import {
  approvalOnChain,
  normalized,
  ownerOf,
  type Signatures,
  signaturesIn,
  signatureText,
} from './signatures.ts';

/** Where a person is. */
interface Session {
  readonly wallet: BrowserWallet;
  readonly address: Address;
  readonly network: KitNetwork;
  readonly state: ChainState;
}

let kit: RescueKit | undefined;
let wallets: readonly BrowserWallet[] = [];
let session: Session | undefined;
let current: Prepared | undefined;
let signatures: Signatures = new Map();

/** What there has to be by now; the page shows no button that needs what is not there. */
function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(what);
  return value;
}

const requireKit = () => required(kit, 'Open the rescue kit first.');
const requireSession = () => required(session, 'Connect a wallet first.');
const requireCurrent = () => required(current, 'Show what is signed first.');

/** Who an owner is by the kit, and the address. */
function named(address: string): string {
  const member = kit?.admins.members.find(({ walletAddress }) => isAmong(walletAddress, [address]));
  return member ? `${member.name} (${address})` : address;
}

const text = (id: string) => element<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>(id).value;

/** Forgets what was prepared: it is of another network, another state or something else. */
function forget(): void {
  current = undefined;
  signatures = new Map();
  element('prepared').hidden = true;
  element('send-section').hidden = true;
  element<HTMLTextAreaElement>('own').value = '';
  for (const id of ['prepared-facts', 'signature-facts', 'sign-status', 'send-status'])
    element(id).replaceChildren();
}

async function readKitText(): Promise<string> {
  const [file] = element<HTMLInputElement>('kit-file').files ?? [];
  const pasted = text('kit-text');
  if (pasted.trim() !== '') return pasted;
  if (file) return file.text();
  throw new Error('Choose the file of the rescue kit, or paste its text.');
}

/** A kit as it was saved: alone, or in the answer of the API. */
function parsed(content: string): unknown {
  try {
    const value = JSON.parse(content);
    return value?.data ?? value;
  } catch {
    throw new Error('This is not a rescue kit: it is not JSON. Is the file whole?');
  }
}

async function openKit(): Promise<void> {
  kit = undefined;
  session = undefined;
  forget();
  for (const id of ['wallet-section', 'sign-section']) element(id).hidden = true;
  element('kit-facts').replaceChildren();
  const content = parsed(await readKitText());
  const opened = await checkRescueKit(content).catch((error: Error) => {
    throw new Error(`This is not a whole rescue kit, or it was changed. ${error.message}`);
  });
  kit = opened;
  const { organization, admins, networks, createdAt, sequence, adminsSafe, keeper, signingKey } = opened;
  const count = networks.reduce((sum, { accounts }) => sum + accounts.length, 0);
  element('kit-facts').replaceChildren(
    facts([
      ['Organization', `${organization.name} (${organization.id})`],
      ['Saved', `${createdAt.slice(0, 16).replace('T', ' ')} UTC, after ${sequence} decisions`],
      [
        'Admins',
        `${admins.threshold} of ${admins.members.length} must sign: ${admins.members.map(({ name }) => name).join(', ')}`,
      ],
      ['Accounts', `${count} on ${networks.length} networks`],
      ["Admins' Safe", make('code', adminsSafe)],
      ['Keeper', make('code', keeper)],
      ['Signing key', make('code', signingKey)],
      [`Hash, the same in every kit after ${sequence} decisions`, make('code', kitHash(opened))],
    ]),
  );
  element('kit-status').replaceChildren(
    notice(
      'good',
      "The kit is whole. Before you sign, compare its hash with the other admins, and its admins' Safe with the one that the founders signed.",
    ),
  );
  fillChoices(
    element('network'),
    networks.map(({ networkId, name }) => [String(networkId), `${name} (chain ID ${networkId})`]),
  );
  element('wallet-section').hidden = false;
}

function showWallets(found: readonly BrowserWallet[]): void {
  wallets = found;
  fillChoices(
    element('wallet'),
    found.map(({ id, name }) => [id, name]),
  );
  if (found.length > 0) element('wallet-status').replaceChildren();
  else {
    element('wallet-status').replaceChildren(
      notice(
        'warning',
        'No wallet found yet. A wallet extension sees a file only where its details say “Allow access to file URLs”. Else serve this page on your own computer: run “python3 -m http.server” in its folder, then open http://localhost:8000/rescue.html.',
      ),
    );
  }
}

const STATES: { readonly [state in AccountOnChain['state']]: string } = {
  ready: 'can be taken over',
  taken: 'taken over: it belongs to the admins',
  locked: "cannot be taken over: the admins' Safe is not a module of it",
  notDeployed: 'not on this network yet',
};

function accountLine({ name, address, balance, state, owner }: AccountOnChain): HTMLElement {
  const amount = `${formatUnits(balance, 18)} native currency`;
  return make(
    'div',
    make('strong', name),
    make('div', make('code', address)),
    make('div', `${STATES[state]} · ${amount}`),
    ...(owner ? [make('div', 'Owner: ', make('code', owner))] : []),
  );
}

const sayReading = (what: string) => element('wallet-status').replaceChildren(make('p', what));

/** What a person should know before signing. */
function warningsOf(
  { state, address, network }: Session,
  { keeper, admins, signingKey }: RescueKit,
): string[] {
  const { adminsSafe: safe } = state;
  if (!safe) {
    return [`The admins' Safe is not on ${network.name}: no account can be taken over there.`];
  }
  const others = safe.modules.filter((module) => !isAmong(module, [keeper]));
  const wallets = admins.members.map(({ walletAddress }) => walletAddress);
  const strangers = safe.owners.filter((owner) => !isAmong(owner, wallets));
  const foreign = state.accounts.filter(
    (account) => account.state === 'ready' && account.owner && !isAmong(account.owner, [signingKey]),
  );
  const missing = admins.members.filter(({ walletAddress }) => !isAmong(walletAddress, safe.owners));
  return [
    ...(isAmong(address, safe.owners)
      ? []
      : [`${address} does not own the admins' Safe on this network. It can send, but not sign.`]),
    ...strangers.map(
      (owner) => `${owner} owns the admins' Safe on this network, but is not an admin of this kit.`,
    ),
    ...missing.map(
      ({ name }) => `${name} is an admin of this kit, but does not own the admins' Safe on this network.`,
    ),
    ...(safe.threshold === admins.threshold
      ? []
      : [`${safe.threshold} must sign on this network; the kit says ${admins.threshold}.`]),
    ...foreign.map(
      ({ name, owner }) => `“${name}” belongs to ${owner}, and not to the signing key of the kit.`,
    ),
    ...others.map(
      (module) => `The module ${module} can act for the admins' Safe. This page leaves it there.`,
    ),
  ];
}

function showChain(now: Session, opened: RescueKit): void {
  const { state, wallet, address } = now;
  const safe = state.adminsSafe;
  element('chain-facts').replaceChildren(
    facts([
      ['Connected', `${named(address)} with ${wallet.name}`],
      ...(safe
        ? [
            [
              "Owners of the admins' Safe",
              `${safe.threshold} of ${safe.owners.length} must sign: ${safe.owners.map(named).join(', ')}`,
            ] as const,
          ]
        : []),
    ]),
    ...warningsOf(now, opened).map((warning) => notice('warning', warning)),
    make('h3', 'Accounts'),
    list(state.accounts.map(accountLine)),
  );
  element('sign-section').hidden = safe === undefined;
  fillChoices(
    element('from'),
    state.accounts.filter((account) => account.state === 'taken').map(({ name, address: of }) => [of, name]),
  );
}

async function readNetwork(): Promise<void> {
  const opened = requireKit();
  forget();
  const wallet = required(
    wallets.find(({ id }) => id === text('wallet')),
    'No wallet found in this browser.',
  );
  const networkId = Number(text('network'));
  const network = required(
    opened.networks.find((one) => one.networkId === networkId),
    'Choose a network.',
  );
  const address = (await connect(wallet, networkId)) as Address;
  const state = await readChain(wallet, opened, networkId, sayReading);
  session = { wallet, address, network, state };
  showChain(session, opened);
  element('wallet-status').replaceChildren(notice('good', `${network.name} was read.`));
}

/** The network as it is now: it may have changed since it was read. */
async function readAgain(): Promise<{ readonly now: Session; readonly place: Place }> {
  const opened = requireKit();
  const before = requireSession();
  const { networkId, name } = before.network;
  await connect(before.wallet, networkId);
  const state = await readChain(before.wallet, opened, networkId, sayReading);
  const now = { ...before, state };
  session = now;
  element('wallet-status').replaceChildren();
  showChain(now, opened);
  const safe = required(state.adminsSafe, `The admins' Safe is not on ${name}.`);
  return { now, place: { networkId, adminsSafe: opened.adminsSafe, keeper: opened.keeper, safe } };
}

async function prepare(): Promise<void> {
  forget();
  const from = text('from');
  const { now, place } = await readAgain();
  const isPayment = element<HTMLInputElement>('what-payment').checked;
  if (isPayment) {
    const account = required(
      now.state.accounts.find(({ address, state }) => address === from && state === 'taken'),
      'No account on this network is taken over yet.',
    );
    const asked = { account, to: text('to'), token: text('token'), amount: text('amount') };
    current = await payment(now.wallet, place, asked);
  } else current = takeover(place, now.state);
  element('prepared-facts').replaceChildren(
    list(current.lines),
    facts([
      ['Network', `${now.network.name} (chain ID ${place.networkId})`],
      ["Nonce of the admins' Safe", String(current.nonce)],
      ['Hash that is signed (SafeTx), the same for every admin', make('code', current.hash)],
    ]),
  );
  element('prepared').hidden = false;
  element('send-section').hidden = false;
  await addSignatures(new Map());
}

/** Counts signatures, and approvals on chain, together with those that are there. */
async function addSignatures(more: Signatures): Promise<void> {
  const { wallet, state } = requireSession();
  const { adminsSafe } = requireKit();
  const { hash } = requireCurrent();
  const { owners, threshold } = required(state.adminsSafe, "The admins' Safe is not on this network.");
  const approved = await approvalsOf(wallet, { address: adminsSafe, owners }, hash);
  signatures = new Map([
    ...approved.map((owner) => [owner, approvalOnChain(owner)] as const),
    ...signatures,
    ...more,
  ]);
  const enough = signatures.size >= threshold;
  element('signature-facts').replaceChildren(
    notice(
      enough ? 'good' : 'warning',
      `${signatures.size} of ${threshold} signatures${signatures.size > 0 ? `: ${[...signatures.keys()].map(named).join(', ')}` : ''}.${enough ? ' It can be sent.' : ''}`,
    ),
  );
  element<HTMLButtonElement>('send').disabled = !enough;
}

async function sign(): Promise<void> {
  const { wallet, address, network, state } = requireSession();
  const { hash, typedData } = requireCurrent();
  await connect(wallet, network.networkId);
  const signed = await wallet.ask<string>('eth_signTypedData_v4', address, JSON.stringify(typedData));
  const signature = normalized(signed);
  const owner = await ownerOf(hash, signature, state.adminsSafe?.owners ?? []);
  element<HTMLTextAreaElement>('own').value = signatureText(network.networkId, hash, signature);
  await addSignatures(new Map([[owner, signature]]));
}

async function sendFrom(to: Address, data: Hex, gas?: bigint): Promise<string> {
  const { wallet, address, network } = requireSession();
  const from = await connect(wallet, network.networkId);
  const call = { from, to, data, value: '0x0', ...(gas ? { gas: `0x${gas.toString(16)}` } : {}) };
  if (from.toLowerCase() !== address.toLowerCase()) {
    throw new Error(`${wallet.name} has selected ${from} meanwhile. Read the network again.`);
  }
  // What would fail is not sent.
  await wallet.ask('eth_call', call, 'latest');
  return wallet.ask<string>('eth_sendTransaction', call);
}

async function approve(): Promise<void> {
  const { wallet } = requireSession();
  const { hash } = requireCurrent();
  const data = encodeFunctionData({ abi: safeAbi, functionName: 'approveHash', args: [hash] });
  const transaction = await sendFrom(requireKit().adminsSafe, data);
  element('sign-status').replaceChildren(
    notice('warning', `Approving in transaction ${transaction}. Please wait.`),
  );
  if (!(await receiptOf(wallet, transaction)))
    throw new Error(`Transaction ${transaction} failed. Nothing was approved.`);
  element('sign-status').replaceChildren(
    notice('good', 'Approved on chain. The other admins see it when they prepare or add signatures.'),
  );
  await addSignatures(new Map());
}

async function add(): Promise<void> {
  const { network, state } = requireSession();
  const { hash } = requireCurrent();
  const owners = state.adminsSafe?.owners ?? [];
  await addSignatures(
    text('others').trim() === ''
      ? new Map()
      : await signaturesIn(text('others'), { networkId: network.networkId, hash, owners }),
  );
}

async function send(): Promise<void> {
  const { transaction, gas, nonce } = requireCurrent();
  const { adminsSafe } = requireKit();
  const given = signatures;
  const { now, place } = await readAgain();
  if (place.safe.nonce !== nonce) {
    throw new Error(
      "Another transaction of the admins' Safe was sent meanwhile. Show again what is signed, and sign that.",
    );
  }
  const enough = [...given]
    .map(([owner, signature]) => ({ owner, signature }))
    .filter(({ owner }) => isAmong(owner, place.safe.owners))
    .slice(0, place.safe.threshold);
  const hash = await sendFrom(adminsSafe, executionData(transaction, enough), gas);
  element('send-status').replaceChildren(notice('warning', `Sent in transaction ${hash}. Please wait.`));
  const succeeded = await receiptOf(now.wallet, hash);
  const { now: after } = await readAgain();
  if (!succeeded)
    throw new Error(`Transaction ${hash} failed, and nothing has changed. Show again what is signed.`);
  forget();
  element('send-section').hidden = false;
  element<HTMLButtonElement>('send').disabled = true;
  const taken = after.state.accounts.filter(({ state }) => state === 'taken').length;
  element('send-status').replaceChildren(
    notice(
      'good',
      `Done in transaction ${hash}. ${taken} of ${after.state.accounts.length} accounts on ${after.network.name} belong to the admins.`,
    ),
  );
}

onClick('kit-open', 'kit-status', openKit);
onClick('connect', 'wallet-status', readNetwork);
onClick('prepare', 'prepare-status', prepare);
onClick('sign', 'sign-status', sign);
onClick('approve', 'sign-status', approve);
onClick('add', 'sign-status', add);
onClick('send', 'send-status', send);
onClick('copy', 'sign-status', async () => {
  const own = element<HTMLTextAreaElement>('own');
  if (own.value === '') throw new Error('There is no signature yet.');
  own.select();
  await navigator.clipboard.writeText(own.value).catch(() => {
    throw new Error('This browser did not copy it. The text is selected: copy it with the keyboard.');
  });
  element('sign-status').replaceChildren(notice('good', 'Copied.'));
});
for (const id of ['what-takeover', 'what-payment']) {
  element(id).addEventListener('change', () => {
    forget();
    element('payment-fields').hidden = !element<HTMLInputElement>('what-payment').checked;
  });
}
for (const id of ['network', 'wallet']) element(id).addEventListener('change', forget);
findWallets(showWallets);
