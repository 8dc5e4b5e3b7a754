import { createOrgwallet, type PinStore } from '@orgwallet/client';
import { QueryClient } from '@tanstack/react-query';
import { watchedFetch } from './connection.ts';

let organizationId = '';

/** Which organization the pin is of; each has its own salt. */
export function pinFor(id: string): void {
  organizationId = id;
}

/** The organization's salt as its first payload showed it, kept by this browser. */
export const pins: PinStore = {
  get: () => {
    const text = localStorage.getItem(`orgwallet.pin.${organizationId}`);
    return text === null ? undefined : JSON.parse(text);
  },
  set: (pin) => localStorage.setItem(`orgwallet.pin.${organizationId}`, JSON.stringify(pin)),
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
