import { renamesIn } from '../../../console/src/domain/renames.ts';

const TREASURY = '0x468f18d57bC8bAE33874e6429638edf9F6F77c41';
const GROUP = 'grp_01jz8k3v5fe5ht0n2m6w9r4xyz';
const TRANSFER = `Send 1 "ETH" (native currency) to 0x${'b'.repeat(40)} from the account "Treasury" (${TREASURY}) on "Local" (31337)`;

const names =
  (...present: readonly (readonly [subject: string, name: string])[]) =>
  (subject: string) =>
    present.filter(([one]) => one === subject).map(([, name]) => name);

describe('renamed records in a summary', () => {
  it('are those that have another name now', () => {
    expect(renamesIn(TRANSFER, names([TREASURY, 'Main treasury']))).toEqual([
      { before: 'Treasury', after: 'Main treasury' },
    ]);
    expect(renamesIn(TRANSFER, names([TREASURY, 'Treasury']))).toEqual([]);
  });

  it('are networks too', () => {
    expect(renamesIn(TRANSFER, names(['31337', 'Ethereum']))).toEqual([
      { before: 'Local', after: 'Ethereum' },
    ]);
    expect(renamesIn(TRANSFER, names(['31337', 'Local']))).toEqual([]);
    expect(renamesIn('note: "a long text"… (130 characters)', names(['130', 'Ethereum']))).toEqual([]);
  });

  it('are found by id and by address, each once', () => {
    const summary = `Change "Ops" (${GROUP}): add "Dave" (contract wallet ${TREASURY}); "Pay" (${GROUP}) and "Ops" (${GROUP})`;
    expect(renamesIn(summary, names([GROUP, 'Pay'], [TREASURY, 'David']))).toEqual([
      { before: 'Ops', after: 'Pay' },
      { before: 'Dave', after: 'David' },
    ]);
  });

  it('are not those of which nothing is known, or that share an address', () => {
    expect(renamesIn(TRANSFER, names())).toEqual([]);
    expect(renamesIn(TRANSFER, names([TREASURY, 'Dave'], [TREASURY, 'Treasury']))).toEqual([]);
  });

  it('are not looked for inside of a name', () => {
    const name = JSON.stringify(`x" (${TREASURY})`);
    expect(renamesIn(`Create ${name} (at 0x${'c'.repeat(40)})`, names([TREASURY, 'y']))).toEqual([]);
  });
});
