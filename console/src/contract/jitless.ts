import { config } from 'zod';

// Before any schema is made: the page's policy forbids code that is compiled from text, even to try whether it may.
config({ jitless: true });
