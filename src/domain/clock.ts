/** How far the clock of the database may be from the signer's, in milliseconds. */
export const MAX_CLOCKS_APART_MS = 60_000;
