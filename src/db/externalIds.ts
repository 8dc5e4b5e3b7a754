/** Whether an error says that another transaction of the organization has the external id of a new one. */
export function isExternalIdTaken(error: unknown): boolean {
  return (error as { readonly constraint?: unknown }).constraint === 'transactions_external_id';
}
