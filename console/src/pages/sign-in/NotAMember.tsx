import { Copy } from '../../ui/Copy.tsx';
import { Notice } from '../../ui/Notice.tsx';
import signInStyles from './sign-in.module.css';

/** What somebody sends to an admin, who adds them. */
const requestFor = (address: string) =>
  `Please add my wallet to our organization in orgwallet.\n\nWallet address: ${address}\nForm for admins: ${location.origin}/new/members`;

/** The wallet of nobody: which address was tried, and what to send to whom. */
export function NotAMember({ address }: { readonly address: string }) {
  const text = requestFor(address);
  return (
    <Notice tone="danger" title="This wallet is not a member’s" urgent>
      <p>
        Tried with the address <code>{address}</code>. If another account of the wallet is the member’s,
        select it in the wallet and sign in again.
      </p>
      <p>Otherwise an admin of your organization has to add it. Send them this text:</p>
      <pre className={signInStyles.copiedText}>{text}</pre>
      <Copy text={text} of="the text for an admin" />
    </Notice>
  );
}
