import type { Approval } from '@orgwallet/client';
import { headline, type Names } from '../text/headline.ts';
import { Unbroken } from './Address.tsx';

/** What a request is about, in one line. */
export const Headline = ({
  request,
  organization,
}: {
  readonly request: Approval;
  readonly organization: Names;
}) => <Unbroken text={headline(request, organization)} />;
