/** How long a nonce can be signed, in seconds. */
export const NONCE_SECONDS = 300;
/** How often a nonce can be tried: its wallet may have to choose an organization. */
export const NONCE_ATTEMPTS = 5;
/** A session ends when it is not used for so long, in seconds. */
export const IDLE_SECONDS = 30 * 60;
/** A session ends at this age, in seconds. */
export const SESSION_SECONDS = 12 * 60 * 60;

/** A browser is recognized for so long after the last sign-in with it, in seconds: as long as browsers keep a cookie. */
export const BROWSER_SECONDS = 400 * 24 * 60 * 60;

/** Why a session has ended. */
export type SessionEnd =
  /** By its member. */
  | 'signedOut'
  /** By an operator. */
  | 'operator'
  | 'memberRemoved'
  | 'walletChanged'
  | 'idle'
  | 'expired'
  /** By a new one of a member who had as many as are kept. */
  | 'replaced';
