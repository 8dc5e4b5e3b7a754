/** The tabs of this browser have one cookie: who signs in with one of them is who all of them are. */
const channel = new BroadcastChannel('orgwallet.session');

/** Reports to the other tabs that somebody has signed in here. */
export function reportSignIn(): void {
  channel.postMessage(null);
}

/** Calls back when somebody has signed in with another tab. Returns how to end it. */
export function onSignInElsewhere(listener: () => void): () => void {
  channel.addEventListener('message', listener);
  return () => channel.removeEventListener('message', listener);
}
