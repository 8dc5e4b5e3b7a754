/** `proposal.executionFailed` as words: `Proposal execution failed`. */
export function actionText(action: string): string {
  const words = action
    .replace('.', ' ')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/ +/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
