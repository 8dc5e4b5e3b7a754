import { explorerLink } from '../../../console/src/text/explorer';

const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

describe('explorerLink', () => {
  it('leads to an address or a transaction, with or without a slash at the end of the explorer', () => {
    expect(explorerLink({ explorerUrl: 'https://scan.example' }, 'address', address)).toBe(
      `https://scan.example/address/${address}`,
    );
    expect(explorerLink({ explorerUrl: 'https://scan.example/eth/' }, 'tx', '0xab')).toBe(
      'https://scan.example/eth/tx/0xab',
    );
  });

  it('leads nowhere without an explorer, and never to a scheme that would run in the page', () => {
    expect(explorerLink(undefined, 'tx', '0xab')).toBeUndefined();
    expect(explorerLink({}, 'tx', '0xab')).toBeUndefined();
    expect(explorerLink({ explorerUrl: 'javascript:alert(1)//' }, 'tx', '0xab')).toBeUndefined();
  });

  it('keeps what it is given in one segment of the path', () => {
    expect(explorerLink({ explorerUrl: 'https://scan.example' }, 'tx', '../x?y')).toBe(
      'https://scan.example/tx/..%2Fx%3Fy',
    );
  });
});
