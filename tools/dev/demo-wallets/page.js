// The wallets of the demo, in a page of the development server: each announces itself as an extension does (EIP-6963), asks the
// person in a dialog, and has the server sign. No key is here.
const data = document.querySelector('meta[name="demo-wallets"]');
const { wallets, chains } = JSON.parse(data.content);
const ICON =
  'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><circle cx="10" cy="10" r="9" fill="%23b45309"/><path d="M7 5v10h2.5a5 5 0 0 0 0-10z" fill="none" stroke="white" stroke-width="2"/></svg>';

const failure = (code, message) => Object.assign(new Error(message), { code });
const chainText = (id) => chains.find((one) => one.id === id)?.name ?? `chain ${id}`;

/** An element with its texts and elements. */
function element(name, { text, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...(text === undefined ? children : [text]));
  return made;
}

const shown = (value) => {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join('\n');
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
};
const facts = (rows) =>
  element(
    'dl',
    {},
    ...rows.flatMap(([name, value]) => [
      element('dt', { text: name }),
      element('dd', { text: shown(value) }),
    ]),
  );

/** Asks the person, one thing at a time. Throws 4001 when they decline. */
let last = Promise.resolve();
function confirm(wallet, title, content, verb) {
  const ask = () =>
    new Promise((resolve, reject) => {
      const id = `demo-wallet-${Date.now()}`;
      const decline = element('button', { type: 'button', text: 'Decline' });
      const accept = element('button', { type: 'button', text: verb });
      const dialog = element(
        'dialog',
        { class: 'demo-wallet', 'aria-labelledby': id },
        element(
          'p',
          { class: 'demo-wallet-mark' },
          element('b', { text: 'Demo wallet: not for real money.' }),
          ' Its key is kept by the development server on this computer. Do not send real money to it.',
        ),
        element('h2', { id, text: `${title} as ${wallet.name}` }),
        element('code', { class: 'small', text: wallet.address }),
        element(
          'div',
          { class: 'demo-wallet-content', tabindex: '0', role: 'group', 'aria-label': 'What is signed' },
          content,
        ),
        element('div', { class: 'demo-wallet-buttons' }, decline, accept),
      );
      const close = (settle) => () => {
        dialog.close();
        dialog.remove();
        settle();
      };
      const refuse = close(() => reject(failure(4001, 'User rejected the request.')));
      decline.addEventListener('click', refuse);
      dialog.addEventListener('cancel', refuse);
      accept.addEventListener('click', close(resolve));
      document.body.append(dialog);
      dialog.showModal();
      accept.focus();
    });
  last = last.then(ask, ask);
  return last;
}

/** Has the development server do what was confirmed. */
async function serve(wallet, method, params) {
  const response = await fetch('/demo-wallets/requests', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address: wallet.address, method, ...params }),
  });
  const body = await response.json();
  if (!response.ok) throw failure(response.status === 400 ? -32602 : -32603, body.message);
  return body.data;
}

const text = (hex) =>
  new TextDecoder().decode(
    Uint8Array.from(hex.slice(2).match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)),
  );

function assertOwn(wallet, address) {
  if (String(address).toLowerCase() !== wallet.address.toLowerCase())
    throw failure(4100, `The account ${address} is not that of this wallet.`);
}

function units(wei) {
  const digits = String(wei).padStart(19, '0');
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '');
}

function providerOf(wallet) {
  const state = { chainId: chains[0]?.id ?? 1 };
  const known = new Set(chains.map(({ id }) => id));
  const methods = {
    eth_accounts: () => [wallet.address],
    eth_requestAccounts: () => [wallet.address],
    eth_chainId: () => `0x${state.chainId.toString(16)}`,
    async personal_sign([data, address]) {
      assertOwn(wallet, address);
      await confirm(wallet, 'Sign a message', element('pre', { text: text(data) }), 'Sign');
      return serve(wallet, 'personal_sign', { data });
    },
    async eth_signTypedData_v4([address, typedData]) {
      assertOwn(wallet, address);
      const { domain, primaryType, message } = JSON.parse(typedData);
      const { chainId = state.chainId } = domain;
      if (Number(chainId) !== state.chainId)
        throw failure(
          -32000,
          `Provided chainId "${chainId}" must match the active chainId "${state.chainId}"`,
        );
      const { summary, ...others } = message;
      const content = element(
        'div',
        {},
        ...(summary === undefined ? [] : [element('pre', { text: shown(summary) })]),
        facts([['Type', primaryType], ...Object.entries(others)]),
      );
      await confirm(wallet, 'Sign a request', content, 'Sign');
      return serve(wallet, 'eth_signTypedData_v4', { typedData });
    },
    async eth_sendTransaction([{ from, to, value = '0x0' }]) {
      assertOwn(wallet, from);
      const { chainId } = state;
      const rows = [
        ['Amount', `${units(BigInt(value))} test currency`],
        ['To', to],
        ['On', chainText(chainId)],
      ];
      await confirm(wallet, 'Send', facts(rows), 'Send');
      return serve(wallet, 'eth_sendTransaction', { chainId, to, value });
    },
    wallet_switchEthereumChain([{ chainId }]) {
      if (!known.has(Number(chainId))) throw failure(4902, `Unrecognized chain ID "${chainId}".`);
      state.chainId = Number(chainId);
      return null;
    },
    async wallet_addEthereumChain([{ chainId, chainName }]) {
      const rows = [
        ['Network', chainName],
        ['Chain ID', Number(chainId)],
      ];
      await confirm(wallet, 'Add a network', facts(rows), 'Add');
      known.add(Number(chainId));
      return null;
    },
  };
  return {
    async request({ method, params = [] }) {
      const answer = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!answer) throw failure(4200, `The method ${method} is not supported.`);
      return answer(params);
    },
    on() {},
    removeListener() {},
  };
}

const details = wallets.map((wallet) => {
  const name = `${wallet.name} (demo wallet)`;
  const rdns = `localhost.orgwallet.demo.${wallet.name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}`;
  const info = Object.freeze({ uuid: crypto.randomUUID(), name, icon: ICON, rdns });
  return Object.freeze({ info, provider: providerOf(wallet) });
});
const announce = () => {
  for (const detail of details) {
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  }
};
window.addEventListener('eip6963:requestProvider', announce);
announce();
