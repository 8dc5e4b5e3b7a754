import { PayloadMismatch, type Transaction } from '@orgwallet/client';
import { calledText, encodingLines, parameterLines } from '../../../src/domain/callText.ts';

/** A line about a call that another one carries. */
const CARRIED = /^\d+(\.\d+)*\. /;
/** What is said of bytes that are not decoded. */
const UNREAD = /^(CARRIES CALLS THAT CANNOT BE READ$|ITS OTHER BYTES MENTION )/;
/** The last line where there is no room for all. */
const REST = /^\d+ of \d+ shown: the calldata has all$/;

/**
 * Makes sure that the lines of a call that are signed have its function and its parameters as they are decoded. What they
 * say of calls that it carries is not compared: only that its parameters can carry some. Throws PayloadMismatch.
 */
export function checkCallLines({
  summary,
  replaces,
  data: { toAddress, calldata, functionName, functionParameters = [], encodingFaults },
}: Pick<Extract<Transaction, { type: 'CONTRACT_INTERACTION' }>, 'summary' | 'data' | 'replaces'>): void {
  const call =
    functionName === undefined
      ? null
      : { functionName, functionParameters, ...(encodingFaults ? { encodingFaults } : {}) };
  const selector = calldata.length < 10 ? null : calldata.slice(0, 10).toLowerCase();
  const called = calledText({ contractAddress: toAddress, selector }, { calldata, call });
  const [first = '', ...others] = summary.split('\n');
  const mayCarry = functionParameters.some(({ type }) => /\bbytes\b/.test(type));
  const own = others
    .slice(replaces === undefined ? 1 : 2)
    .filter((line) => !UNREAD.test(line) && !(mayCarry && CARRIED.test(line)));
  const shown = REST.test(own.at(-1) ?? '') ? own.slice(0, -1) : own;
  const lines = [...encodingLines(call), ...parameterLines({ functionParameters })];
  // The native currency that it sends is compared with the bytes elsewhere.
  const isCalled = first === called || first.startsWith(`${called}, together with `);
  const isWhole = shown.length < own.length || shown.length === lines.length;
  if (isCalled && isWhole && shown.every((line, i) => line === lines[i])) return;
  throw new PayloadMismatch('message.summary', [called, ...lines].join('\n'), summary);
}
