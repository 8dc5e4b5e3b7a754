import type { Places } from '../../domain/faults.ts';
import { tagsIn } from '../../domain/references.ts';
import formStyles from '../../ui/form.module.css';
import { FormText } from '../../ui/formFields.tsx';
import type { TransactionForm } from './SourceFields.tsx';
import type { TransactionDraft } from './transactionDraft.ts';

/** What the transaction is known by in the records of others, as it is sent. */
export const sentReferences = ({ externalId, tags }: Pick<TransactionDraft, 'externalId' | 'tags'>) => ({
  ...(externalId.trim() === '' ? {} : { externalId: externalId.trim() }),
  ...(tagsIn(tags).length === 0 ? {} : { tags: tagsIn(tags) }),
});

/** Each tag is a part of one field. */
export const TAGS_PLACE: Places[number] = [/^tags.*$/, 'tags'];

/** Asks for the id and the tags of whoever requests it. */
export function ReferenceFields({ form }: { readonly form: TransactionForm }) {
  return (
    <div className={formStyles.formPair}>
      <FormText
        form={form}
        name="externalId"
        label="Your own id (optional)"
        hint="For example an invoice number. Must be unique. Not signed."
        maxLength={100}
      />
      <FormText form={form} name="tags" label="Tags (optional)" hint="Separated by commas. Not signed." />
    </div>
  );
}
