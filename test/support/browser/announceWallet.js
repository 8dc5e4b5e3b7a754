// Runs in every page: announces the test wallet (EIP-6963). The test answers its requests (`testWalletRequest`).
(() => {
  const listeners = { accountsChanged: [] };
  const provider = {
    async request({ method, params = [] }) {
      const { error, result } = await window.testWalletRequest({ method, params });
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    },
    on: (event, listener) => listeners[event]?.push(listener),
    removeListener() {},
  };
  const icon =
    'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4"/></svg>';
  const uuid = 'b7c6a1f2-5f5e-4d43-9a4e-3f3a5a1c0d7e';
  const info = Object.freeze({ uuid, name: 'Test Wallet', icon, rdns: 'example.test-wallet' });
  const detail = Object.freeze({ info, provider });
  const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  window.addEventListener('eip6963:requestProvider', announce);
  announce();
  window.testWalletAccountsChanged = (accounts) => {
    for (const listener of listeners.accountsChanged) listener(accounts);
  };
})();
