/** An element of the page by its id. */
export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`element ${id} not found`);
  return found as T;
}

/** A new element with its content; text is never read as HTML. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  ...content: readonly (string | Node)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  made.append(...content);
  return made;
}

/** Facts with their names. */
export function facts(pairs: readonly (readonly [name: string, value: string | Node])[]): HTMLElement {
  return make('dl', ...pairs.map(([name, value]) => make('div', make('dt', name), make('dd', value))));
}

/** A list of texts. */
export function list(items: readonly (string | Node)[]): HTMLElement {
  const made = make('ul', ...items.map((item) => make('li', item)));
  made.className = 'accounts';
  return made;
}

/** A text that stands out. */
export function notice(kind: 'good' | 'warning' | 'danger', text: string): HTMLElement {
  const made = make('p', text);
  made.className = `notice ${kind}`;
  return made;
}

/** Something to choose from, by its value and its text. */
export function fillChoices(
  select: HTMLSelectElement,
  choices: readonly (readonly [value: string, text: string])[],
): void {
  const before = select.value;
  select.replaceChildren(...choices.map(([value, text]) => new Option(text, value)));
  if (choices.some(([value]) => value === before)) select.value = before;
}

/**
 * What a button does, one click at a time. Where it fails, its place for messages says why, and what to do.
 */
export function onClick(button: string, status: string, work: () => Promise<void> | void): void {
  const pressed = element<HTMLButtonElement>(button);
  const place = element(status);
  pressed.addEventListener('click', async () => {
    if (pressed.ariaBusy === 'true') return;
    pressed.ariaBusy = 'true';
    place.replaceChildren();
    try {
      await work();
    } catch (error) {
      place.replaceChildren(notice('danger', error instanceof Error ? error.message : String(error)));
    } finally {
      pressed.ariaBusy = 'false';
    }
  });
}
