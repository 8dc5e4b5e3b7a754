/** The name that a heading has in a link, as code hosts make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** The names that the headings of a page have in links. */
export function anchorsIn(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

/** What is below a heading of the second level (`## …`). */
export function sectionBelow(page: string, heading: string): string {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  return text;
}

/** The blocks of a language in a page, with the indent of a list taken away. */
export function codeBlocks(page: string, language = 'sh'): string[] {
  return [...page.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)\\n *\`\`\``, 'gm'))].map(
    ([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

/** Finds, in a page, the only block below a heading that has a text. */
export function blocksOf(page: string): (heading: string, text: string, language?: string) => string {
  return (heading, text, language) => {
    const [block, ...others] = codeBlocks(sectionBelow(page, heading), language).filter((one) =>
      one.includes(text),
    );
    const found = block === undefined ? 0 : 1 + others.length;
    if (block === undefined || found !== 1) throw new Error(`${heading}: ${found} blocks have ${text}`);
    return block;
  };
}
