import type { RescueKit } from '@orgwallet/client/rescue';

/** What this browser remembers of the last rescue kit that was saved with it. */
interface SavedKit extends Pick<RescueKit, 'sequence' | 'signingKey' | 'sealKey' | 'adminsSafe'> {
  /** ISO 8601. */
  readonly savedAt: string;
}

const keyOf = (organizationId: string) => `orgwallet.kit.${organizationId}`;

/** The last kit that was saved; undefined: none, in this browser. */
export function savedKit(organizationId: string): SavedKit | undefined {
  const text = localStorage.getItem(keyOf(organizationId));
  return text === null ? undefined : JSON.parse(text);
}

/** Remembers that a kit was saved now. Its keys are those that the next one must have. */
export function rememberKit({ organization, sequence, signingKey, sealKey, adminsSafe }: RescueKit): void {
  const saved: SavedKit = { sequence, signingKey, sealKey, adminsSafe, savedAt: new Date().toISOString() };
  localStorage.setItem(keyOf(organization.id), JSON.stringify(saved));
}
