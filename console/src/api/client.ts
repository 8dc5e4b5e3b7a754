import { createOrgwallet, type Pin, type PinStore } from '@orgwallet/client';
import { QueryClient } from '@tanstack/react-query';
import { watchedFetch } from './connection.ts';

const pinKey = (organization: string) => `orgwallet.pin.${organization}`;
const firstSeen = new Set<string>();

/** Whether this page has made the pin of an organization: nobody here has compared its salt before. */
export const isFirstSeen = (organization: string): boolean => firstSeen.has(organization);

/** Keeps the salt of an organization: this browser refuses any other from now on. */
export function keepPin(pin: Pin): void {
  localStorage.setItem(pinKey(pin.organization), JSON.stringify(pin));
}

/** The salt of each organization as its first payload showed it, kept by this browser. */
export const pins: PinStore = {
  get: (organization) => {
    const text = localStorage.getItem(pinKey(organization));
    return text === null ? undefined : JSON.parse(text);
  },
  set: (pin) => {
    firstSeen.add(pin.organization);
    keepPin(pin);
  },
};

/** How long a read may take with all its repetitions, in ms: people wait for it. */
export const READ_TIMEOUT_MS = 15_000;

/** The API, with the session of this browser. */
export const orgwallet = createOrgwallet({
  baseUrl: `${location.origin}/api/v1`,
  fetch: watchedFetch,
  pins,
});

/** Answers of the service, as they were read last. The client repeats what can be repeated. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 30_000, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
});
