/** Reads the named fields of an address's query, as texts; what is empty or absent is left out. */
export function searchTexts<Field extends string>(...fields: readonly Field[]) {
  return (search: { readonly [field: string]: unknown }): { readonly [F in Field]?: string } =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const value = search[field];
        const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
        return text === '' ? [] : [[field, text]];
      }),
    ) as { [F in Field]?: string };
}

/** The filter of a chain id in the URL of a page; an invalid one is left out. */
export const networkFilter = (id: string | undefined): { readonly networkId?: number } =>
  id && /^[1-9]\d{0,14}$/.test(id) ? { networkId: Number(id) } : {};

/** Which transactions of an account are shown. */
export const historySearch = searchTexts('status', 'networkId', 'type');
export type HistorySearch = ReturnType<typeof historySearch>;

const MOVEMENT_FIELDS = [
  'accountId',
  'networkId',
  'assetId',
  'direction',
  'counterparty',
  'status',
  'verified',
  'from',
  'to',
] as const;
/** Which movements are shown; both dates are days, the last one included. */
export const movementsSearch = searchTexts(...MOVEMENT_FIELDS);
export type MovementsSearch = ReturnType<typeof movementsSearch>;

/** The page of an account: whether it shows transactions or movements, and which. */
export const accountSearch = searchTexts('view', 'type', ...MOVEMENT_FIELDS);

/** The fields of the page of requests: its tab, where its page begins, and what is looked for. */
const REQUEST_FIELDS = [
  'tab',
  'after',
  'text',
  'from',
  'to',
  'kind',
  'accountId',
  'assetId',
  'initiatorId',
  'policyId',
  'networkId',
  'tag',
  'externalId',
  'missingMemberId',
] as const;
export const requestsSearch = searchTexts(...REQUEST_FIELDS);
export type RequestsSearch = ReturnType<typeof requestsSearch>;

/** Which fees are shown. */
export const feesSearch = searchTexts('accountId', 'policyId', 'networkId');
export type FeesSearch = ReturnType<typeof feesSearch>;

/** Which entries of the audit log are shown; both dates are days, the last one included. */
export const auditSearch = searchTexts('resourceType', 'resourceId', 'action', 'from', 'to');
export type AuditSearch = ReturnType<typeof auditSearch>;
