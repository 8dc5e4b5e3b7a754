import fc from 'fast-check';
import { toFunctionSelector, toFunctionSignature } from 'viem';
import { parseFunction, selectorOf, standardFunctions } from '../../../src/chain/functions';

function reasonOf(text: string): string {
  const parsed = parseFunction(text);
  if (parsed.ok) throw new Error(`it was read as ${JSON.stringify(parsed.function)}`);
  return parsed.reason;
}

describe('a function that a policy names', () => {
  it.each([
    ['mint(address,uint256)', 'mint', '0x40c10f19'],
    ['transfer(address,uint256)', 'transfer', '0xa9059cbb'],
    ['approve(address,uint256)', 'approve', '0x095ea7b3'],
    ['deposit()', 'deposit', '0xd0e30db0'],
    ['multicall(bytes[])', 'multicall', '0xac9650d8'],
    ['aggregate((address,bytes)[])', 'aggregate', '0x252dba42'],
    ['aggregate3((address,bool,bytes)[])', 'aggregate3', '0x82ad56cb'],
    ['$_f9(bytes32[2][],(int8,(bool,string)[3])[])', '$_f9', undefined],
    ['callback(function)', 'callback', undefined],
  ])('is read from its signature %s', (text, name, selector) => {
    expect(parseFunction(text)).toEqual({
      ok: true,
      function: { name, selector: selector ?? toFunctionSelector(`function ${text}`) },
    });
  });

  it.each([
    ['0x12345678', undefined, '0x12345678'],
    ['0xDEADBEEF', undefined, '0xdeadbeef'],
    ['0xA9059CBB', 'transfer', '0xa9059cbb'],
    ['0x00000001', undefined, '0x00000001'],
  ])('is read from its selector %s', (text, name, selector) => {
    expect(parseFunction(text)).toEqual({ ok: true, function: { name, selector } });
  });

  it('of more than 1,000 characters is refused', () => {
    expect(reasonOf(`f(${'address,'.repeat(130)}address)`)).toBe('must have at most 1000 characters');
  });

  it('that is a bare name has no selector', () => {
    expect(reasonOf('mint')).toMatch(/^a bare name has no selector; .*mint\(address,uint256\)$/);
  });

  it.each(['0x', '0x1', '0x1234567', '0x123456789', '0x1234567g', '0X12345678', '0x1234 678'])(
    'that is the selector %p is refused',
    (text) => {
      expect(reasonOf(text)).toBe('a selector must be 0x and 8 hex digits');
    },
  );

  it.each([
    ['mint(address, uint256)', 'mint(address,uint256)'],
    [' mint(address,uint256)', 'mint(address,uint256)'],
    ['mint(address,uint256)\n', 'mint(address,uint256)'],
    ['mint(address,uint)', 'mint(address,uint256)'],
    ['f(int[],byte)', 'f(int256[],bytes1)'],
    ['mint(address to,uint256 amount)', 'mint(address,uint256)'],
    ['function mint(address to, uint amount)', 'mint(address,uint256)'],
    ['function mint(address to) external payable returns (bool)', 'mint(address)'],
    ['pay(address payable to)', 'pay(address)'],
    ['f(bytes calldata data, uint256[] memory ids)', 'f(bytes,uint256[])'],
    ['f(tuple(address a, uint b)[] c)', 'f((address,uint256)[])'],
    ['f( )', 'f()'],
  ])('is refused as %p, with its canonical form', (text, canonical) => {
    expect(reasonOf(text)).toBe(`is not in canonical form; write ${canonical}`);
    expect(parseFunction(canonical).ok).toBe(true);
  });

  it.each([
    ['', /must be a function signature or a 4-byte selector/],
    ['()', /must be a function signature or a 4-byte selector/],
    ['1f()', /"1"/],
    ['f(', /without a type/],
    ['f(address', /unbalanced parentheses/],
    ['f(address,)', /without a type/],
    ['f(,address)', /without a type/],
    ['f(address))', /after its parameters/],
    ['f()g()', /after its parameters/],
    ['f(uint7)', /type uint7/],
    ['f(uint0)', /type uint0/],
    ['f(uint08)', /type uint08/],
    ['f(uint264)', /type uint264/],
    ['f(int9)', /type int9/],
    ['f(bytes0)', /type bytes0/],
    ['f(bytes33)', /type bytes33/],
    ['f(Address)', /type Address/],
    ['f(IERC20)', /type IERC20/],
    ['f(constructor)', /type constructor/],
    ['f(toString)', /type toString/],
    ['f(uint256[0])', /array/],
    ['f(uint256[01])', /array/],
    ['f(uint256[-1])', /"\["/],
    ['f(uint256[)', /"\["/],
    ['f(address;uint256)', /";"/],
    ['f(\u202eaddress)', /an unexpected/],
    ['трансфер(address)', /an unexpected/],
    ['f([])', /without a type/],
    ['*', /"\*"/],
  ])('is refused as %p', (text, reason) => {
    expect(reasonOf(text)).toMatch(reason);
  });

  it.each([
    ['many_msg_babbage(bytes1)', '0xa9059cbb', 'transfer(address,uint256)'],
    ['join_tg_invmru_haha_fd06787(address,bool)', '0xa9059cbb', 'transfer(address,uint256)'],
    ['sign_szabo_bytecode(bytes16,uint128)', '0x095ea7b3', 'approve(address,uint256)'],
    ['gasprice_bit_ether(int128)', '0x23b872dd', 'transferFrom(address,address,uint256)'],
  ])('that shares its selector with a standard one is refused: %s', (text, selector, standard) => {
    expect(selectorOf(text)).toBe(selector);
    expect(reasonOf(text)).toBe(
      `has the selector ${selector} of the standard function ${standard} but is another function`,
    );
  });
});

describe('standard functions', () => {
  it('are found by their selector, and each is itself', () => {
    for (const [selector, known] of standardFunctions()) {
      expect(known.selector).toBe(selector);
      expect(toFunctionSelector(known.abi)).toBe(selector);
      expect(toFunctionSignature(known.abi)).toBe(known.signature);
      expect(known.abi.inputs.every(({ name }) => name !== undefined && name !== '')).toBe(true);
      expect(parseFunction(known.signature)).toEqual({
        ok: true,
        function: { name: known.abi.name, selector },
      });
    }
  });
});

const elementary = fc.oneof(
  fc.constantFrom('address', 'bool', 'bytes', 'string'),
  fc.integer({ min: 1, max: 32 }).map((width) => `bytes${width}`),
  fc.tuple(fc.constantFrom('uint', 'int'), fc.integer({ min: 1, max: 32 })).map(([k, n]) => `${k}${n * 8}`),
);
const { type } = fc.letrec<{ type: string; tuple: string; array: string }>((tie) => ({
  type: fc.oneof({ maxDepth: 3 }, elementary, tie('tuple'), tie('array')),
  tuple: fc.array(tie('type'), { minLength: 1, maxLength: 3 }).map((types) => `(${types.join(',')})`),
  array: fc
    .tuple(tie('type'), fc.option(fc.integer({ min: 1, max: 20 })))
    .map(([of, length]) => `${of}[${length ?? ''}]`),
}));
const name = fc.stringMatching(/^[a-zA-Z_$][a-zA-Z0-9_$]{0,15}$/);
const signature = fc
  .tuple(name, fc.array(type, { maxLength: 4 }))
  .map(([called, types]) => ({ called, types, text: `${called}(${types.join(',')})` }));

describe('every function', () => {
  it('in canonical form is read with its selector', () => {
    fc.assert(
      fc.property(signature, ({ called, text }) => {
        fc.pre(text.length <= 1_000);
        expect(parseFunction(text)).toEqual({
          ok: true,
          function: { name: called, selector: selectorOf(text) },
        });
      }),
    );
  });

  it('in any other form is refused with its canonical form', () => {
    const space = fc.constantFrom(' ', '  ', '\t', '\n');
    fc.assert(
      fc.property(signature, space, fc.nat(), ({ text }, blank, at) => {
        fc.pre(text.length < 900 && !text.startsWith('function('));
        const places = [...text.matchAll(/[(),]/g)].map(({ index }) => index);
        const place = places[at % places.length] ?? 0;
        const loose = `${text.slice(0, place)}${blank}${text.slice(place)}`;
        expect(reasonOf(loose)).toBe(`is not in canonical form; write ${text}`);
      }),
    );
  });

  it('that is read at all is read the same by the ABI library', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('f', 'uint', '256', 'address', '(', ')', ',', '[', ']', '2', ' ', 'tuple', 'bytes'),
          { maxLength: 12 },
        ),
        (parts) => {
          const text = parts.join('');
          const parsed = parseFunction(text);
          if (parsed.ok) expect(toFunctionSelector(`function ${text}`)).toBe(parsed.function.selector);
          else expect(parsed.reason).not.toBe('');
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
