import type { Request, RequestHandler } from 'express';

/** What a development server adds to the console. Production refuses it. */
export interface PageAddition {
  /** Serves paths of its own, and passes on all others. */
  readonly routes: RequestHandler;
  /** Elements that come before the first script of the page, as HTML; empty for a request that gets none. */
  head(request: Request): string;
}
